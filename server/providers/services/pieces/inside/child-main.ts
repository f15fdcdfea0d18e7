// Runs a piece behind the wall: reads one request per line from standard input and writes one response per line to the
// fourth pipe. The code of the piece is untrusted. Nothing in this file protects anything; the secrets it receives are
// placeholders.

import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

type Fields = Record<string, unknown>
type Run = (context: unknown) => unknown
type Part = Fields & {
  name: string
  props?: Record<string, Fields>
  run?: Run
  onEnable?: Run
  onDisable?: Run
  onRenew?: Run
  onHandshake?: Run
}
type Auth = Fields & { type: string; validate?: (given: unknown) => unknown; props?: Record<string, Fields> }
type Piece = Fields & {
  auth?: Auth | Auth[]
  actions(): Record<string, Part>
  triggers(): Record<string, Part>
  getContextInfo?(): { version?: string }
}
type Request = {
  id: string
  code: string
  do: 'describe' | 'run' | 'options' | 'validate' | 'enable' | 'disable' | 'renew' | 'trigger' | 'handshake'
  name?: string
  prop?: string
  args?: Fields
  auth?: { type: string; values: Record<string, string>; data?: Fields }
  store?: Fields
  webhook?: string
  payload?: Fields
  search?: string
}

const ANSWERS = 3

function say(answer: object): void {
  const bytes = Buffer.from(`${JSON.stringify(answer)}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(ANSWERS, bytes, at)
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') throw error
    }
  }
}

let loaded: Piece | undefined

function load(code: string): Piece {
  if (loaded) return loaded
  const exported = createRequire(`${code}/`)(code) as Fields
  const isPiece = (value: unknown): value is Piece =>
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Fields).actions === 'function' &&
    typeof (value as Fields).triggers === 'function'
  const found = Object.values(exported).find(isPiece)
  if (!found) throw new Error('the package exports no piece')
  loaded = found
  return found
}

const authsOf = (piece: Piece): Auth[] => [piece.auth].flat().filter((auth): auth is Auth => Boolean(auth))

/**
 * Converts the texts of a credential to the switches and numbers that the piece expects, and fills in the piece's
 * defaults.
 */
function typed(piece: Piece, values: Record<string, string>): Fields {
  const props = authsOf(piece).find(({ type }) => type === 'CUSTOM_AUTH')?.props ?? {}
  const given: Fields = { ...values }
  for (const [name, { type, defaultValue }] of Object.entries(props)) {
    const value = values[name]
    if (value === undefined && defaultValue !== undefined) given[name] = defaultValue
    else if (value !== undefined && type === 'CHECKBOX') given[name] = value === 'true'
    else if (value !== undefined && type === 'NUMBER') given[name] = Number(value)
  }
  return given
}

/** Pieces with context version 1 or later receive the whole connection; older pieces receive only its value. */
function authFor(piece: Piece, given: Request['auth']): unknown {
  if (!given) return undefined
  const { type, values, data = {} } = given
  const whole = Number(piece.getContextInfo?.().version ?? 0) >= 1
  switch (type) {
    case 'SECRET_TEXT':
      return whole ? { type, secret_text: values.value } : values.value
    case 'BASIC_AUTH':
      return { type, username: values.username, password: values.password }
    case 'OAUTH2':
      return { type, access_token: values.access_token, token_type: 'Bearer', data, props: data.props ?? {} }
    default:
      return whole ? { type, props: typed(piece, values) } : typed(piece, values)
  }
}

function withFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFiles)
  if (typeof value !== 'object' || value === null) return value
  const { $piece_file: file } = value as { $piece_file?: { name: string; base64: string } }
  if (file) {
    const data = Buffer.from(file.base64, 'base64')
    const extension = /\.([^.]+)$/.exec(file.name)?.[1]
    return { filename: file.name, data, base64: file.base64, extension }
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withFiles(inner)]))
}

type Kept = { store: Map<string, unknown>; written: Fields; files: { name: string; base64: string }[]; cron?: string }

function contextFor(piece: Piece, request: Request, kept: Kept): Fields {
  const notHere = (): never => {
    throw new Error('a piece cannot pause: use a wait node in the workflow')
  }
  return {
    auth: authFor(piece, request.auth),
    propsValue: withFiles(request.args ?? {}),
    executionType: 'BEGIN',
    store: {
      put: async (key: string, value: unknown) => {
        kept.store.set(key, value)
        kept.written[key] = value
        return value
      },
      get: async (key: string) => kept.store.get(key) ?? null,
      delete: async (key: string) => {
        kept.store.delete(key)
        kept.written[key] = null
      },
    },
    files: {
      write: async ({ fileName, data }: { fileName: string; data: Uint8Array }) => {
        kept.files.push({ name: fileName, base64: Buffer.from(data).toString('base64') })
        return `heddle-file://${kept.files.length - 1}`
      },
    },
    connections: { get: async () => null },
    tags: { add: async () => undefined },
    output: { update: async () => undefined },
    server: { apiUrl: 'http://localhost/', publicUrl: 'http://localhost/', token: '' },
    project: { id: 'project', externalId: async () => undefined },
    flows: { list: async () => ({ data: [] }), current: { id: 'flow', version: { id: 'version' } } },
    step: { name: 'step' },
    run: { id: 'run', stop: () => undefined, respond: () => undefined, pause: notHere, createWaitpoint: notHere },
    webhookUrl: request.webhook,
    payload: request.payload ?? {},
    setSchedule: ({ cronExpression }: { cronExpression: string }) => {
      kept.cron = cronExpression
    },
    app: { createListeners: () => undefined },
    searchValue: request.search,
    isTest: false,
  }
}

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'function' ? { $function: true } : inner)) ??
      'null',
  )

const aboutProps = (props: Record<string, Fields> = {}): unknown =>
  Object.fromEntries(Object.entries(props).map(([name, { auth: _auth, ...prop }]) => [name, prop]))

const aboutPart = ({
  name,
  displayName,
  description,
  props,
  requireAuth,
  classification,
  aiMetadata,
  type,
  handshakeConfiguration,
  renewConfiguration,
}: Part) =>
  plain({
    name,
    displayName,
    description,
    props: aboutProps(props),
    requireAuth,
    classification,
    aiMetadata,
    type,
    handshakeConfiguration,
    renewConfiguration,
  })

function describe(piece: Piece): Fields {
  return {
    displayName: piece.displayName,
    description: piece.description,
    auth: authsOf(piece).map((auth) => ({ ...(plain(auth) as Fields), canTest: typeof auth.validate === 'function' })),
    actions: Object.values(piece.actions()).map(aboutPart),
    triggers: Object.values(piece.triggers()).map(aboutPart),
  }
}

function partOf(piece: Piece, name = ''): Part {
  for (const parts of [piece.actions(), piece.triggers()]) if (Object.hasOwn(parts, name)) return parts[name]!
  throw new Error('the piece has no such action or trigger')
}

async function work(piece: Piece, request: Request, kept: Kept): Promise<unknown> {
  if (request.do === 'describe') return describe(piece)
  const context = contextFor(piece, request, kept)
  if (request.do === 'validate') {
    const auth = authsOf(piece).find(({ type }) => type === request.auth?.type)
    if (!auth?.validate) return { valid: null }
    return auth.validate({ auth: context.auth, server: context.server })
  }
  const part = partOf(piece, request.name)
  switch (request.do) {
    case 'run':
    case 'trigger':
      return part.run?.(context)
    case 'enable':
      return part.onEnable?.(context)
    case 'disable':
      return part.onDisable?.(context)
    case 'renew':
      return part.onRenew?.(context)
    case 'handshake':
      return part.onHandshake?.(context)
    case 'options': {
      const prop = part.props?.[request.prop ?? '']
      const choices = (prop?.options ?? prop?.props) as ((given: unknown, context: unknown) => unknown) | undefined
      if (typeof choices !== 'function') throw new Error('the field has no choices to list')
      return plain(await choices({ ...(withFiles(request.args ?? {}) as Fields), auth: context.auth }, context))
    }
  }
}

function failureOf(error: unknown): Fields {
  const { name, message, response, status, statusCode } = (error ?? {}) as {
    name?: string
    message?: string
    response?: { status?: number; body?: unknown; data?: unknown }
    status?: number
    statusCode?: number
  }
  return {
    name,
    message: String(message ?? error).slice(0, 4_000),
    status: response?.status ?? status ?? statusCode,
    body: JSON.stringify(response?.body ?? response?.data ?? null)?.slice(0, 4_000),
  }
}

async function serve(request: Request): Promise<void> {
  const kept: Kept = { store: new Map(Object.entries(request.store ?? {})), written: {}, files: [] }
  try {
    const output = (await work(load(request.code), request, kept)) ?? null
    say({ id: request.id, ok: true, output, written: kept.written, files: kept.files })
  } catch (error) {
    say({ id: request.id, ok: false, error: failureOf(error), written: kept.written })
  }
}

// A promise that a piece does not await must not end the process, which other calls of the workspace use.
process.on('uncaughtException', () => undefined)
process.on('unhandledRejection', () => undefined)
createInterface({ input: process.stdin }).on('line', (line) => void serve(JSON.parse(line) as Request))
say({ ready: true })
