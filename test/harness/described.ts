import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'

// Compares responses with the OpenAPI document and with the conventions of the wire: TypeIDs, and times in UTC with
// milliseconds.

type Content = Record<string, { schema?: JsonObject }>
type Operation = { operationId: string; responses: Record<string, { content?: Content }> }

/** Reads the stored document, because the service needs seconds to write it. `npm run check` compares both. */
const document = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: JsonObject
}
const operations = new Map(
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => [operation.operationId, operation]),
)

/** Fields with data of tenants and of other services, and the ids of requests and processes. */
const NOT_OURS = new Set(
  'args arguments body config context data definition input layout metadata output payload records request_id results schema settings state theme value values worker_id'.split(
    ' ',
  ),
)
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SOME_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function misspelt(value: Json, path: string): string[] {
  if (typeof value === 'string') {
    const isWrong = UUID.test(value) || (SOME_TIME.test(value) && !TIME.test(value))
    return isWrong ? [`${path} is ${value}`] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (NOT_OURS.has(key) ? [] : misspelt(inner, `${path}/${key}`)))
}

/** Returns how a response differs from what the document and the conventions promise. */
export function differencesOf(operation: string, status: number, body: Json | undefined): string[] {
  const { content } = operations.get(operation)!.responses[status] ?? {}
  const schema = content?.['application/json']?.schema
  if (body === undefined || schema === undefined) return []
  const issues = validateJson({ ...schema, components: document.components }, body)
  return [...issues.map(({ path, message }) => `${path} ${message}`), ...misspelt(body, '')]
}
