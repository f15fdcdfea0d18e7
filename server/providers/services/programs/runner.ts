import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import type { OutgoingFailure } from '#platform/outgoing/failure'
import { parsedLine, type WallProtocol } from '#platform/wall/protocol'
import type { Wall } from '#platform/wall/wall'
import { PieceFailure } from '../pieces/index.ts'
import { type McpProgram, type ProgramLock, secretsNamedIn, withValues } from './index.ts'
import type { ProgramSource } from './source.ts'

// Calls MCP servers that are programs. A warm process serves one program of one workspace, with one credential.

export type ProgramCall = {
  workspaceId: string
  program: McpProgram
  method: string
  params: JsonObject
  credential: OutgoingCredential | undefined
  credentialKey?: string | undefined
  /** Returns the lock to install if the program is not on this machine yet. */
  findLock(): Promise<ProgramLock>
  signal: AbortSignal
  timeoutMs?: number
}

export type ProgramAnswer = { answer: JsonObject; sent: number; refused: readonly OutgoingFailure[] }

export type ProgramRunner = {
  /** Returns the response message. Throws PieceFailure if the program is not available, and WallFailure. */
  ask(call: ProgramCall): Promise<ProgramAnswer>
}

const HELLO = 'hello'

/** JSON-RPC over standard input and output, as MCP specifies. */
export const mcpProtocol: WallProtocol = {
  hello: JSON.stringify({
    jsonrpc: '2.0',
    id: HELLO,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'heddle', version: '1' } },
  }),
  isReady(line) {
    const said = parsedLine(line)
    return isObject(said) && said.id === HELLO && isObject(said.result)
  },
  afterReady: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  request: (request, { id }) => JSON.stringify({ jsonrpc: '2.0', id, ...request }),
  answerIn(line, id) {
    const said = parsedLine(line)
    return isObject(said) && said.id === id && said.method === undefined ? said : undefined
  },
  replyTo(line) {
    const said = parsedLine(line)
    if (!isObject(said) || typeof said.method !== 'string' || said.id === undefined) return undefined
    const { id, method } = said
    if (method === 'ping') return JSON.stringify({ jsonrpc: '2.0', id, result: {} })
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'not available here' } })
  },
}

/** Returns the placeholders for the secrets that the program names. */
function placeholdersFor(program: McpProgram, credential: OutgoingCredential | undefined) {
  const wanted = secretsNamedIn(program)
  const veiled = credential?.veiled?.()
  if (credential && (!veiled || veiled.kind === 'piece'))
    throw new PieceFailure(`the credential "${credential.name}" cannot be used with a program`)
  const missing = wanted.find((name) => veiled?.placeholders[name] === undefined)
  if (missing !== undefined)
    throw new PieceFailure(
      credential
        ? `the program needs the secret "${missing}", which the credential "${credential.name}" does not have`
        : `the program needs the secret "${missing}" of a credential`,
    )
  return { values: veiled?.placeholders ?? {}, credential: veiled?.credential }
}

export function makeProgramRunner({
  wall,
  source,
}: {
  wall: Pick<Wall, 'call'>
  source: Pick<ProgramSource, 'folderOf'>
}): ProgramRunner {
  return {
    async ask({ workspaceId, program, method, params, credential, credentialKey = '', findLock, signal, timeoutMs }) {
      const { values, credential: veiled } = placeholdersFor(program, credential)
      const folder = await source.folderOf({ workspaceId, signal }, program, findLock)
      const args = program.args.map((arg) => withValues(arg, values))
      const environment = Object.fromEntries(
        Object.entries(program.environment).map(([name, value]) => [name, withValues(value, values)]),
      )
      const started = createHash('sha256')
        .update(JSON.stringify([args, environment]))
        .digest('hex')
      return wall.call({
        workspaceId,
        key: `${credentialKey} ${started}`,
        program: {
          entry: join(folder, program.entry),
          code: folder,
          transport: 'http',
          inCode: true,
          answersOnOutput: true,
          protocol: mcpProtocol,
          args,
          environment,
        },
        request: { method, params },
        credential: veiled,
        signal,
        ...(timeoutMs !== undefined && { timeoutMs }),
      })
    },
  }
}
