// Looks up the names that tenants choose. A lookup of the system keeps one of the process's few threads for it until
// the name server responds: twenty names whose name server never responds delayed every other lookup of the process by
// a minute. So the name servers are asked directly, which keeps no thread. The system is asked only for names that they
// do not know, such as those in its hosts file, with one lookup at a time.

import { Resolver, lookup as systemLookup } from 'node:dns'

type Resolved = { address: string; family: number }
type Done = (error: Error | null, addresses: Resolved[]) => void
export type Resolve = (host: string, callback: Done) => void

/** The time until a name server is asked again, and how often it is asked. */
const ASK = { timeout: 2_000, tries: 2 }
/** The settings of the system, such as its name servers, are read again after this time. */
const SETTINGS_FOR_MS = 30_000
const MAX_WAITING = 100
const MAX_WAIT_MS = 5_000

export const resolveBySystem: Resolve = (host, callback) => systemLookup(host, { all: true, verbatim: true }, callback)

export function makeResolve({
  servers,
  system = resolveBySystem,
  asking = ASK,
}: {
  servers?: string[]
  system?: Resolve
  asking?: typeof ASK
} = {}): Resolve {
  let resolver: Resolver | undefined
  let since = 0
  const current = (): Resolver => {
    const now = performance.now()
    if (resolver && now - since < SETTINGS_FOR_MS) return resolver
    resolver = new Resolver(asking)
    if (servers) resolver.setServers(servers)
    since = now
    return resolver
  }
  const bySystem = oneAtATime(system)

  return (host, callback) => {
    const asked = current()
    const found: Record<4 | 6, Resolved[]> = { 4: [], 6: [] }
    let open = 2
    let failure: NodeJS.ErrnoException | null = null
    const take = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: string[] | undefined) => {
      if (error) failure = isTimeout(failure) ? failure : error
      else found[family] = (addresses ?? []).map((address) => ({ address, family }))
      if (--open > 0) return
      const all = [...found[4], ...found[6]]
      if (all.length > 0) callback(null, all)
      else if (isTimeout(failure)) callback(failure, [])
      else bySystem(host, callback)
    }
    asked.resolve4(host, take(4))
    asked.resolve6(host, take(6))
  }
}

const isTimeout = (error: NodeJS.ErrnoException | null): boolean => error?.code === 'ETIMEOUT'

type Waiting = { host: string; callback: Done; timer: NodeJS.Timeout }

/** Runs one lookup at a time. Others wait for a limited time. */
function oneAtATime(resolve: Resolve): Resolve {
  const waiting = new Set<Waiting>()
  let isBusy = false
  const begin = (host: string, callback: Done): void => {
    isBusy = true
    resolve(host, (error, addresses) => {
      isBusy = false
      const [next] = waiting
      if (next) {
        waiting.delete(next)
        clearTimeout(next.timer)
        begin(next.host, next.callback)
      }
      callback(error, addresses)
    })
  }
  const unknown = (host: string): Error =>
    Object.assign(new Error(`no address of ${host} was found`), { code: 'ENOTFOUND' })
  return (host, callback) => {
    if (!isBusy) begin(host, callback)
    else if (waiting.size >= MAX_WAITING) callback(unknown(host), [])
    else {
      const entry: Waiting = {
        host,
        callback,
        timer: setTimeout(() => {
          waiting.delete(entry)
          callback(unknown(host), [])
        }, MAX_WAIT_MS),
      }
      waiting.add(entry)
    }
  }
}
