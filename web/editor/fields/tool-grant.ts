import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// An entry in `tools` of an agent: the name of a kind of node, or an object that also restricts its arguments.

export type Choice = 'agent' | 'fixed' | 'allowed'

/** Converts a tool to an object; a name alone means an object with that type. */
export const grantOf = (tool: Json): JsonObject => (isObject(tool) ? tool : { type: String(tool) })

/** Returns a grant in its shortest form. */
export function writtenGrant(grant: JsonObject): Json {
  const { arguments: given, ...rest } = grant
  const kept = isObject(given)
    ? Object.fromEntries(Object.entries(given).filter(([, part]) => isObject(part) && Object.keys(part).length > 0))
    : {}
  if (Object.keys(kept).length > 0) return { ...rest, arguments: kept as JsonObject }
  return Object.keys(rest).length === 1 && typeof rest.type === 'string' ? rest.type : rest
}

const partOf = (grant: JsonObject, part: 'fixed' | 'allowed'): JsonObject => {
  const given = isObject(grant.arguments) ? grant.arguments[part] : undefined
  return isObject(given) ? given : {}
}

export const choiceOf = (grant: JsonObject, name: string): Choice =>
  Object.hasOwn(partOf(grant, 'fixed'), name)
    ? 'fixed'
    : Object.hasOwn(partOf(grant, 'allowed'), name)
      ? 'allowed'
      : 'agent'

export const argumentOf = (grant: JsonObject, name: string): Json | undefined =>
  partOf(grant, 'fixed')[name] ?? partOf(grant, 'allowed')[name]

/** Sets who chooses an argument, and its allowed values. */
export function withArgument(grant: JsonObject, name: string, choice: Choice, value?: Json): JsonObject {
  const { [name]: _fixed, ...fixed } = partOf(grant, 'fixed')
  const { [name]: _allowed, ...allowed } = partOf(grant, 'allowed')
  if (choice === 'fixed') fixed[name] = value ?? ''
  if (choice === 'allowed') allowed[name] = value ?? []
  return { ...grant, arguments: { fixed, allowed } }
}

/** Returns the arguments of a tool, by name. The agent never chooses the credential. */
export const argumentsIn = (schema: Json | undefined): [name: string, schema: JsonObject][] =>
  Object.entries(isObject(schema) && isObject(schema.properties) ? schema.properties : {}).filter(
    (entry): entry is [string, JsonObject] => isObject(entry[1]),
  )

/** Returns the schema of the approval policy for a call, from the schema of the node. */
export function approvalSchema(schema: JsonObject): JsonObject | undefined {
  const forms = isObject(schema.items) && Array.isArray(schema.items.anyOf) ? schema.items.anyOf : []
  for (const form of forms) {
    const approval = isObject(form) && isObject(form.properties) ? form.properties.approval : undefined
    if (isObject(approval)) return approval
  }
  return undefined
}
