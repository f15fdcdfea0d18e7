import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// What stands in `tools` of an agent: the name of a kind of node, or an object that also says what its arguments may be.

export type Choice = 'agent' | 'fixed' | 'allowed'

/** A name alone is the same as an object with that type. */
export const grantOf = (tool: Json): JsonObject => (isObject(tool) ? tool : { type: String(tool) })

/** Written as shortly as it can be. */
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

/** Who chooses an argument, and what it may be. */
export function withArgument(grant: JsonObject, name: string, choice: Choice, value?: Json): JsonObject {
  const { [name]: _fixed, ...fixed } = partOf(grant, 'fixed')
  const { [name]: _allowed, ...allowed } = partOf(grant, 'allowed')
  if (choice === 'fixed') fixed[name] = value ?? ''
  if (choice === 'allowed') allowed[name] = value ?? []
  return { ...grant, arguments: { fixed, allowed } }
}

/** The arguments that a tool takes, by name. Which credential is used is never the agent's to choose. */
export const argumentsIn = (schema: Json | undefined): [name: string, schema: JsonObject][] =>
  Object.entries(isObject(schema) && isObject(schema.properties) ? schema.properties : {}).filter(
    (entry): entry is [string, JsonObject] => isObject(entry[1]),
  )

/** The form of the policy that a call waits for, as the schema of the node gives it. */
export function approvalSchema(schema: JsonObject): JsonObject | undefined {
  const forms = isObject(schema.items) && Array.isArray(schema.items.anyOf) ? schema.items.anyOf : []
  for (const form of forms) {
    const approval = isObject(form) && isObject(form.properties) ? form.properties.approval : undefined
    if (isObject(approval)) return approval
  }
  return undefined
}
