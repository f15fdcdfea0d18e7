import type { McpTool } from '#engine/agents/mcp-client'
import { NodeFailure } from '#engine/node'
import { programSession } from '#engine/services/mcp-program'
import { SECOND } from '#platform/clock'
import { invalid, problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { WallFailure } from '#platform/wall/failure'
import type { CompiledDocument } from '#providers/services/openapi/index'
import { PieceFailure } from '#providers/services/pieces/index'
import { type McpProgram, type ProgramLock, secretsNamedIn } from '#providers/services/programs/index'
import type { ProgramRunner } from '#providers/services/programs/runner'
import type { ProgramSource } from '#providers/services/programs/source'
import type { ImportRequest } from './import-schema.ts'
import { documentOf } from './import-tools.ts'
import { type OpenFor, openForCaller } from './open-credential.ts'

// A package whose program is an MCP server: installs the package, starts the program behind the wall, and lists its
// tools.

const ANSWER_WITHIN = 60 * SECOND

export type ProgramParts = { programs: ProgramRunner; programSource: ProgramSource; openFor: OpenFor }

type ReadProgram = { document: CompiledDocument; package: McpProgram; lock: ProgramLock }

export async function readProgram(parts: ProgramParts, ctx: Context, input: ImportRequest): Promise<ReadProgram> {
  const { credential_id, mcp_package = '', mcp_version, mcp_args = [], mcp_environment = {} } = input
  const needs = secretsNamedIn({ args: mcp_args, environment: mcp_environment })
  if (needs.length > 0 && credential_id === undefined)
    throw invalid([{ path: '/credential_id', message: `is required: the program is given the secret "${needs[0]}"` }])
  const fetched = await fetchProgram(parts, ctx, mcp_package, mcp_version)
  const { lock, folder: _folder, ...about } = fetched
  const program: McpProgram = { ...about, args: mcp_args, environment: mcp_environment }
  const tools = await listTools(parts, ctx, program, { lock, credentialId: credential_id })
  const document = await documentOf(tools, {
    title: program.name,
    description: 'An MCP server',
    version: program.version,
    base_url: null,
    reference: null,
    auth: needs.length === 0 ? [] : [{ kind: 'bearer', title: program.name.slice(0, 120), config: {} }],
    credential_required: needs.length > 0,
  })
  return { document, package: program, lock }
}

async function fetchProgram({ programSource }: ProgramParts, ctx: Context, name: string, version: string | undefined) {
  const caller = { workspaceId: ctx.workspace.workspace_id, signal: ctx.stepAside() }
  try {
    return await programSource.fetch(caller, name, version)
  } catch (error) {
    if (error instanceof PieceFailure) throw invalid([{ path: '/mcp_package', message: error.message }])
    if (error instanceof WallFailure)
      throw problem('probe_failed', `The package could not be fetched: ${error.message}.`)
    throw error
  }
}

async function listTools(
  { programs, openFor }: ProgramParts,
  ctx: Context,
  program: McpProgram,
  { lock, credentialId }: { lock: ProgramLock; credentialId: string | undefined },
): Promise<McpTool[]> {
  const credential = credentialId === undefined ? undefined : await openForCaller(openFor, ctx, credentialId)
  try {
    const call = {
      workspaceId: ctx.workspace.workspace_id,
      program,
      credential,
      credentialKey: credentialId,
      findLock: async () => lock,
      signal: ctx.signal,
      timeoutMs: ANSWER_WITHIN,
    }
    return await programSession(programs, call, 'read').listTools()
  } catch (error) {
    if (error instanceof NodeFailure) throw problem('probe_failed', `The tools could not be listed: ${error.message}.`)
    throw error
  }
}
