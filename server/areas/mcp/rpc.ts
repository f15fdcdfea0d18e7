import { z } from 'zod'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { isProblem } from '#platform/errors'
import { parseJson } from '#platform/http/body'

// JSON-RPC 2.0, as the Model Context Protocol uses it: one message at a time.

export type Id = string | number
/** `answered`: the result, if the message is the answer to a request of this service. */
export type Message = { id?: Id; method?: string; params?: JsonObject; answered?: Json }
export type Reply = { jsonrpc: '2.0'; id: Id | null } & (
  | { result: object }
  | { error: { code: number; message: string } }
)

export const RpcMessage = z
  .looseObject({
    jsonrpc: z.literal('2.0').describe('The version of JSON-RPC'),
    id: z.union([z.string(), z.number()]).optional().describe('Absent in a notification, which gets no reply'),
    method: z.string().optional().describe('Absent in the answer to a request of this service'),
    params: z.looseObject({}).optional().describe('What the method needs'),
  })
  .meta({ id: 'McpMessage' })

export const RpcReply = z
  .looseObject({
    jsonrpc: z.literal('2.0').describe('The version of JSON-RPC'),
    id: z.union([z.string(), z.number()]).nullable().describe('The id of the message'),
    result: z.looseObject({}).optional().describe('What the method returns'),
    error: z
      .object({ code: z.number().int().describe('As JSON-RPC defines it'), message: z.string() })
      .optional()
      .describe('Why the message was refused'),
  })
  .meta({ id: 'McpReply' })

export const rpcError = (id: Id | null, code: number, message: string): Reply => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

/** Parses a message, or returns an error reply. */
export function readMessage(body: Buffer, maxDepth: number): Message | Reply {
  let value: unknown
  try {
    value = parseJson(body, maxDepth)
  } catch (error) {
    if (!isProblem(error)) throw error
    const { message, errors = [] } = error
    return rpcError(null, -32700, [message, ...errors.map(({ path, message: what }) => `${path} ${what}`)].join(' '))
  }
  if (!isObject(value as JsonObject)) return rpcError(null, -32600, 'send one message of JSON-RPC at a time')
  const { jsonrpc, id, method, params, result } = value as JsonObject
  const isId = id === undefined || typeof id === 'string' || typeof id === 'number'
  const isAnswer = method === undefined && id !== undefined
  if (jsonrpc !== '2.0' || !isId || !(isAnswer || typeof method === 'string'))
    return rpcError(null, -32600, 'this is not a message of JSON-RPC 2.0')
  if (params !== undefined && !isObject(params)) return rpcError(id ?? null, -32602, 'params must be an object')
  if (isAnswer) return { id: id as Id, answered: result ?? null }
  return {
    ...(id !== undefined && { id }),
    method: String(method),
    ...(params !== undefined && { params }),
  }
}

export const isReply = (value: Message | Reply): value is Reply => 'jsonrpc' in value
