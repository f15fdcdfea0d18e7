import type { Json, JsonObject } from '#model/definition'
import { isExpression } from '#model/expressions'
import { isObject, own } from '#model/json'
import { validateJson } from '#model/json-schema'
import { NotConvertible } from '../js-ast.ts'
import { celOut, type Out, pathOut } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'

/** Returns a parameter by its path. If n8n stores a choice together with the method of choosing, returns the choice. */
export function parameterAt(parameters: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = parameters
  for (const key of path.split('.')) {
    const list: Json | undefined = Array.isArray(value) ? value[0] : value
    value = isObject(list) ? own(list, key) : undefined
  }
  return chosen(value)
}

/** Marks a value that n8n lets the model fill in. */
export const MODEL_FILLS = 'filled_by_model'
export const isFilledByModel = (value: Json | undefined): boolean => JSON.stringify(value ?? null).includes(MODEL_FILLS)

export const chosen = (value: Json | undefined): Json | undefined => {
  if (!isObject(value) || value.__rl !== true) return value
  const held = value.value
  // Finds the id inside an address of Google or Notion.
  const found =
    value.mode === 'url' && typeof held === 'string'
      ? (/\/d\/([\w-]{15,})|folders\/([\w-]{15,})|\/(app\w{14})|([0-9a-f]{32})/
          .exec(held)
          ?.slice(1)
          .find((one) => one !== undefined) ?? held)
      : held
  return found
}

export const fileOf = (scope: Scope, name: string): Out => {
  const item = scope.input.paired()
  const held = item.fields?.binary?.fields?.[name]
  if (held) return held.path ? pathOut(held.path) : held
  return item.path
    ? pathOut([...item.path, 'binary', name])
    : celOut(`(${item.cel})?.binary[${JSON.stringify(name)}].orValue(null)`)
}

/** Returns the columns of a record: the mapped columns, or the item itself. */
export function columnsOf(step: Step, raw: Json | undefined, scope: Scope): Json {
  if (!isObject(raw)) return step.guarded(scope.input.paired())
  if (raw.mappingMode === 'autoMapInputData') return step.guarded(scope.input.paired())
  const held = isObject(raw.value) ? raw.value : {}
  return step.value(
    Object.fromEntries(Object.entries(held).filter(([, value]) => value !== null && value !== '')),
    scope,
  )
}

const credentialOf = ({ node }: Step, service: string): { name: string; kind: string } | undefined => {
  if (service === 'rss') return undefined
  const [kind, name] = Object.entries(node.credentials)[0] ?? []
  return { name: name ?? service, kind: kind ?? service }
}

/**
 * Adds a call of a service. The service must exist and accept these arguments; otherwise the node is to be done by
 * hand.
 */
export function addCall(
  step: Step,
  { add }: Pick<Place, 'add'>,
  service: string,
  action: string,
  args: JsonObject,
): string {
  const actions = step.work.services.get(service)
  if (!actions) throw new NotConvertible(`the service ${service} is not supported yet`)
  const schema = actions.get(action)
  if (!schema) throw new NotConvertible(`the service ${service} does not support the action ${action} yet`)
  for (const name of Array.isArray(schema.required) ? schema.required.map(String) : [])
    if (args[name] === undefined || args[name] === '') args[name] = step.unfilled(`${service} ${action}: ${name}`)
  const [issue] = validateJson(schema, args, { opaque: (value) => isExpression(value) })
  if (issue) step.byHand(`${service} ${action}: ${issue.path.slice(1) || 'arguments'} ${issue.message}`)
  return add('service.call', { service, action, args }, { credential: credentialOf(step, service) })
}

/** Returns the number of items that an n8n node requests, unless it requests all. */
export const limitOf = ({ p }: Step): JsonObject => {
  const limit = Number(p.limit ?? 50)
  return p.returnAll === true || !Number.isInteger(limit) ? {} : { max_items: limit }
}

/** Returns the items of a call that reads page by page. */
export const itemsOf = (id: string): Out => pathOut(['nodes', id, 'output', 'items'], 'list')
