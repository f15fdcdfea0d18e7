import type { JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { ServiceDetail, ServiceInList } from '#sdk/types.generated'
import { argumentsIn, wordsOf } from '#web/features/services/words.ts'

/**
 * Returns the form of a `service.call` node: the available services and actions, and the arguments of the chosen
 * action.
 */
export function serviceArgsSchema(
  schema: JsonObject,
  args: JsonObject,
  services: readonly ServiceInList[] | undefined,
  detail: ServiceDetail | undefined,
): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const chosen = detail?.actions.find(({ name }) => name === args.action)
  const among = (field: string, choices: readonly (readonly [value: string, title: string])[]): JsonObject => {
    const value = args[field]
    const values = choices.map(([choice]) => choice)
    const known = typeof value === 'string' && !values.includes(value) ? [value, ...values] : values
    const titles = Object.fromEntries(choices)
    return { ...(properties[field] as JsonObject), ...(known.length > 0 && { enum: known, 'x-titles': titles }) }
  }
  const takesNone = detail?.source === 'built_in' && detail.credentials.length === 0
  const listed = services?.find(({ service }) => service === args.service)
  const actions = listed?.actions ?? detail?.actions ?? []
  const of = { source: (listed ?? detail)?.source ?? ('built_in' as const) }
  const said = (text: string): string => wordsOf(of, text)
  const fields: JsonObject = {
    ...properties,
    service: among('service', services?.map(({ service, title }) => [service, title]) ?? []),
    action: among(
      'action',
      actions.map(({ name, title }) => [name, said(title)]),
    ),
    ...(chosen && { args: { ...(argumentsIn(of, chosen.args_schema) as JsonObject), title: said(chosen.title) } }),
  }
  if (takesNone) delete fields.credential_id
  const required = ['service', 'action', ...(detail?.credential_required ? ['credential_id'] : []), 'args']
  return { ...schema, properties: fields, required: required.filter((name) => name in fields) }
}

/**
 * Updates the arguments after a change: another service starts with empty arguments, another action keeps those that it
 * also has.
 */
export function changedServiceArgs(
  before: JsonObject,
  after: JsonObject,
  detail: ServiceDetail | undefined,
): JsonObject {
  if (before.service !== after.service) return { service: after.service!, action: '', args: {} }
  if (before.action === after.action) return after
  const action = detail?.actions.find(({ name }) => name === after.action)
  const known = Object.keys((action?.args_schema as JsonObject | undefined)?.properties ?? {})
  const args = isObject(after.args) ? after.args : {}
  return { ...after, args: Object.fromEntries(Object.entries(args).filter(([name]) => known.includes(name))) }
}
