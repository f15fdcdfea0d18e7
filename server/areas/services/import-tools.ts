import { setImmediate } from 'node:timers/promises'
import { type McpTool, openMcpSession } from '#engine/agents/mcp-client'
import { NodeFailure } from '#engine/node'
import { hasBadText } from '#engine/text'
import { SECOND } from '#platform/clock'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { Outgoing } from '#platform/outgoing/outgoing'
import type { CompiledDocument } from '#providers/services/openapi/index'
import { asWords } from '#providers/services/openapi/names'
import { formSchema, shortText } from '#providers/services/openapi/schema'
import { type OpenFor, openForCaller } from './open-credential.ts'

// The tools of an MCP server as actions of a service.

const ANSWER_WITHIN = 30 * SECOND

export type ToolParts = { outgoing: Pick<Outgoing, 'fetch' | 'fetchWith'>; openFor: OpenFor }

async function listTools(
  { outgoing, openFor }: ToolParts,
  ctx: Context,
  { url, credentialId }: { url: string; credentialId: string | undefined },
): Promise<McpTool[]> {
  const credential = credentialId === undefined ? undefined : await openForCaller(openFor, ctx, credentialId)
  const fetch = credential ? outgoing.fetchWith(credential) : outgoing.fetch
  const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(ANSWER_WITHIN)])
  try {
    const session = await openMcpSession({ fetch }, { url }, signal)
    try {
      return await session.listTools()
    } finally {
      await session.close()
    }
  } catch (error) {
    if (error instanceof NodeFailure) throw problem('probe_failed', `The tools could not be listed: ${error.message}.`)
    if (signal.aborted && !ctx.signal.aborted) throw problem('probe_failed', 'The tool server did not answer in time.')
    throw error
  }
}

/**
 * Returns a unique name. It starts with `get` if the server declares the tool read-only; such a call is repeated after
 * a crash.
 */
function nameOf(taken: Set<string>, { name, readOnly }: McpTool): string {
  const base = `${readOnly ? 'get' : 'call'}_${asWords(name) || 'tool'}`.slice(0, 100)
  let found = base
  for (let number = 2; taken.has(found); number += 1) found = `${base}_${number}`
  taken.add(found)
  return found
}

export async function readTools(
  parts: ToolParts,
  ctx: Context,
  server: { url: string; credentialId: string | undefined },
): Promise<CompiledDocument> {
  const tools = await listTools(parts, ctx, server)
  return documentOf(tools, {
    title: new URL(server.url).hostname,
    description: 'An MCP server',
    version: 'MCP',
    base_url: server.url,
    reference: null,
    auth: server.credentialId === undefined ? [] : [{ kind: 'bearer', title: 'MCP', config: {} }],
    credential_required: server.credentialId !== undefined,
  })
}

export async function documentOf(
  tools: readonly McpTool[],
  about: Omit<CompiledDocument['summary'], 'notes' | 'skipped'>,
): Promise<CompiledDocument> {
  if (tools.length === 0) throw problem('probe_failed', 'The server has no tools.')
  const names = new Set<string>()
  const actions: CompiledDocument['actions'] = []
  const notes: CompiledDocument['summary']['notes'] = []
  for (const tool of tools) {
    // A large schema takes milliseconds, so other work runs between the tools.
    await setImmediate()
    const args_schema = { ...formSchema(tool.schema, tool.schema), type: 'object' }
    const title = shortText(tool.title, 120) || tool.name
    const head = {
      name: nameOf(names, tool),
      title,
      description: shortText(tool.description) || title,
      effect: tool.readOnly ? ('read' as const) : ('write' as const),
      method: 'POST',
      path: tool.name,
    }
    const text = JSON.stringify({ args_schema, tool: tool.name })
    if (hasBadText(text) || hasBadText(JSON.stringify(head)))
      notes.push({ path: shortText(tool.name, 100), message: 'it contains characters that are not valid text' })
    else actions.push({ head, text })
  }
  return {
    actions,
    summary: { ...about, notes, skipped: notes.length },
  }
}
