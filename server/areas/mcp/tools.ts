import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { toWire } from '#platform/ids'
import type { ToolRow } from './store.ts'

// Workflows as tools of the Model Context Protocol.

export type McpTool = { name: string; title: string; description: string; inputSchema: JsonObject }

const SUFFIX = 6
const MAX_NAME = 40

/**
 * Returns a tool name from the words of the workflow's name and the end of its id. So workflows with the same name are
 * different tools, and a tool keeps its name in all versions.
 */
export function toolNameOf({ workflow_id, name }: Pick<ToolRow, 'workflow_id' | 'name'>): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, MAX_NAME)
    .replace(/^_+|_+$/g, '')
  return `${words || 'workflow'}_${toWire('wf', workflow_id).slice(-SUFFIX)}`
}

export const toolOf = (row: ToolRow): McpTool => ({
  name: toolNameOf(row),
  title: row.name,
  description: row.description ?? `Runs the workflow "${row.name}" and answers with its results.`,
  inputSchema: schemaOf(row.inputs),
})

/** The protocol requires the schema of an object. */
const schemaOf = (inputs: Json | null): JsonObject =>
  isObject(inputs) ? { ...inputs, type: 'object' } : { type: 'object' }

export type ToolResult = { content: { type: 'text'; text: string }[]; structuredContent?: JsonObject; isError?: true }

export const failed = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true })

/** Converts an execution to the result of a tool call. */
export function resultOf(execution: {
  execution_id: string
  status: string
  results: Json
  error?: { code: string; message: string } | null
}): ToolResult {
  const { status, results, error } = execution
  const execution_id = toWire('exe', execution.execution_id)
  if (status === 'succeeded')
    return {
      content: [{ type: 'text', text: typeof results === 'string' ? results : JSON.stringify(results) }],
      ...(isObject(results) && { structuredContent: results }),
    }
  if (status === 'queued' || status === 'running' || status === 'waiting')
    return {
      content: [
        {
          type: 'text',
          text: `The execution ${execution_id} is ${status} and continues. Its results are not known yet.`,
        },
      ],
      structuredContent: { execution_id, status },
    }
  return failed(`The execution ${execution_id} is ${status}${error ? `: ${error.code}: ${error.message}` : ''}`)
}
