import { lookup } from 'node:dns/promises'
import net, { isIP } from 'node:net'
import { getSystemErrorName } from 'node:util'
import { type Config, refuseSetting } from '../config.ts'
import { refuseTakenPort, webAddressOf } from './listen.ts'

// A socket from which several processes accept connections. The process that binds it accepts none: connections wait in
// the kernel for a free process, and none is lost when a process ends.

/**
 * The internal function with which Node's cluster module binds. A server that listens would accept connections itself.
 */
type Handle = { getsockname(out: { port?: number }): number; close(): void }
type Binding = { _createServerHandle(address: string, port: number, family: number): Handle | number }

export type SharedSocket = { handles: unknown[]; address: string; close(): void }

export async function bindSharedSocket({
  HOST: host,
  PORT: port,
}: Pick<Config, 'HOST' | 'PORT'>): Promise<SharedSocket> {
  const addresses = await addressesOf(host)
  if (port !== 0)
    await refuseTakenPort({ host, port }).catch((error: NodeJS.ErrnoException) => {
      throw refusalOf(error.code, { host, port }, error)
    })
  const handles: Handle[] = []
  let bound = port
  for (const address of addresses) {
    const handle = (net as unknown as Binding)._createServerHandle(address, bound, isIP(address))
    const name: { port?: number } = {}
    const failure = typeof handle === 'number' ? handle : handle.getsockname(name)
    if (typeof handle === 'number' || failure !== 0)
      throw refusalOf(getSystemErrorName(failure), { host, port }, undefined)
    bound = name.port!
    handles.push(handle)
  }
  return {
    handles,
    address: webAddressOf(host, bound),
    close: () => {
      for (const handle of handles) handle.close()
    },
  }
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  try {
    const found = await lookup(host, { all: true })
    return (host === 'localhost' ? found : found.slice(0, 1)).map(({ address }) => address)
  } catch (error) {
    throw refuseSetting('HOST', host, error as Error)
  }
}

function refusalOf(code: string | undefined, at: { host: string; port: number }, cause: unknown): unknown {
  if (code === 'EADDRINUSE' || code === 'EACCES') return refuseSetting('PORT', at.port, cause ?? new Error(code))
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return refuseSetting('HOST', at.host, cause ?? new Error(code))
  return cause ?? new Error(`cannot listen: ${code}`)
}
