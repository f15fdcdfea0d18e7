import { isIP, type Socket } from 'node:net'
import type { Connection, ConnectionConfiguration } from 'tedious'
import { messageOf, openSocket, resolveAddress, type TargetAccess, textOf } from './common.ts'
import { encryptionOf } from './encryption.ts'
import { badCertificate, hostPortOf, isAboutTls, withoutTls } from './hosted.ts'
import { type Target, WarehouseFailure } from './index.ts'

// Connects to SQL Server, at the verified address, encrypted unless the target says otherwise.

export const SQLSERVER_PORT = 1433
const CONNECT_MS = 10_000

export type Tedious = typeof import('tedious')

export const loadTedious = async (): Promise<Tedious> => {
  const module = (await import('tedious')) as unknown as { default?: Tedious } & Tedious
  return module.default ?? module
}

function configurationOf(
  { config, secrets }: Target,
  socket: Socket,
  { tls, verify }: { tls: boolean; verify: boolean },
  timeoutMs: number,
): ConnectionConfiguration {
  const { host } = hostPortOf(config, SQLSERVER_PORT)
  return {
    server: host,
    authentication: { type: 'default', options: { userName: textOf(config.user), password: secrets.password ?? '' } },
    options: {
      // Uses the verified address, because the name may resolve differently the next time.
      connector: async () => (tls ? refuseClear(socket) : socket),
      database: textOf(config.database),
      encrypt: tls,
      trustServerCertificate: !verify,
      ...(isIP(host) === 0 && { serverName: host }),
      ...(typeof config.ca === 'string' && { cryptoCredentialsDetails: { ca: config.ca } }),
      connectTimeout: CONNECT_MS,
      requestTimeout: Math.ceil(timeoutMs),
      cancelTimeout: 2_000,
      maxRetriesOnTransientErrors: 0,
      appName: 'heddle',
      rowCollectionOnRequestCompletion: false,
      useColumnNames: false,
      useUTC: true,
      enableArithAbort: true,
    },
  }
}

const PRELOGIN_ENCRYPTION = 1
const ENCRYPTED: ReadonlySet<number | undefined> = new Set([1, 3])

/** Returns the encryption setting in the server's first packet. Undefined while the packet is incomplete. */
function encryptionIn(received: Buffer): number | null | undefined {
  if (received.length < 8 || received.length < received.readUInt16BE(2)) return undefined
  const options = received.subarray(8, received.readUInt16BE(2))
  for (let at = 0; at + 5 <= options.length && options[at] !== 0xff; at += 5)
    if (options[at] === PRELOGIN_ENCRYPTION) return options[options.readUInt16BE(at + 1)] ?? null
  return null
}

/**
 * Closes the socket if the server says that it has no TLS. Otherwise the driver would sign in unencrypted, despite its
 * settings.
 */
function refuseClear(socket: Socket): Socket {
  let received = Buffer.alloc(0)
  const look = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk])
    const said = encryptionIn(received)
    if (said === undefined) return
    socket.off('data', look)
    if (said === null || !ENCRYPTED.has(said)) socket.destroy(new Error(WITHOUT_TLS))
  }
  socket.on('data', look)
  return socket
}

const WITHOUT_TLS = 'the server does not support encryption'

async function signIn(target: Target, configuration: ConnectionConfiguration): Promise<Connection> {
  const { Connection: Client } = await loadTedious()
  const connection = new Client(configuration)
  connection.on('error', () => {})
  try {
    await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
    return connection
  } catch (error) {
    connection.close()
    const text = `${(error as { code?: string }).code ?? ''} ${messageOf(error)}`
    const isOff = target.config.ssl === 'off' || target.config.ssl === false
    if (isAboutTls(text) || /encrypt/i.test(text))
      throw isOff ? new WarehouseFailure('tls', messageOf(error)) : badCertificate(error)
    if (/ETIMEOUT|ESOCKET|ECONN|closed/i.test(text))
      throw new WarehouseFailure('sign_in', 'the server does not answer; is it SQL Server?')
    throw new WarehouseFailure('sign_in', messageOf(error))
  }
}

export async function openSqlserver(reach: TargetAccess, target: Target, timeoutMs: number): Promise<Connection> {
  const { host, port } = hostPortOf(target.config, SQLSERVER_PORT)
  const address = await resolveAddress(reach, host, port)
  const { tls, verify, mayBeClear } = encryptionOf(target.config.ssl, address)
  const dial = async (how: { tls: boolean; verify: boolean }): Promise<Connection> =>
    signIn(target, configurationOf(target, await openSocket(address, port), how, timeoutMs))
  try {
    return await dial({ tls, verify })
  } catch (error) {
    const without = tls && error instanceof WarehouseFailure && error.message.includes(WITHOUT_TLS)
    if (!without) throw error
    if (!mayBeClear) throw withoutTls()
    return dial({ tls: false, verify: false })
  }
}
