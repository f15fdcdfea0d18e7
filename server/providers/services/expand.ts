import type { Json, JsonObject } from '#model/definition'
import type {
  ActionSource,
  Manifest,
  Service,
  ServiceAction,
  ServiceEffect,
  ServiceHook,
  ServiceTrigger,
} from './manifest.ts'

// Expands the short forms of a manifest. `"string! The name @channels"` consists of a type, `!` if the value is
// required, a default after `=`, a description, and the list of choices for the value.

const FILE: JsonObject = {
  type: 'object',
  title: 'File',
  properties: { $file: { type: 'object', properties: { file_id: { type: 'string' } }, required: ['file_id'] } },
  required: ['$file'],
  additionalProperties: false,
}
const list = (items: JsonObject): JsonObject => ({ type: 'array', items, maxItems: 10_000 })

const TYPES: Readonly<Record<string, JsonObject>> = {
  string: { type: 'string', maxLength: 10_000 },
  text: { type: 'string', 'x-editor': 'text' },
  html: { type: 'string', 'x-editor': 'html' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', format: 'date-time' },
  email: { type: 'string', format: 'email', maxLength: 320 },
  url: { type: 'string', format: 'uri', maxLength: 4_000 },
  object: { type: 'object' },
  list: { type: 'array', maxItems: 10_000 },
  strings: list({ type: 'string' }),
  integers: list({ type: 'integer' }),
  numbers: list({ type: 'number' }),
  objects: list({ type: 'object' }),
  rows: list({ type: 'array' }),
  file: FILE,
  files: list(FILE),
  upload: { anyOf: [{ type: 'string' }, FILE] },
  any: {},
}

const SHORT = /^(\S+?)(!?)(?:=(\S+))?(?: (.*?))?(?: ?@(\w+))?$/

export const titleOf = (name: string): string => {
  const words = name.replaceAll('_', ' ').replace(/\b(id|url|html|cc|bcc|ids)\b/g, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function defaultOf(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

export function expandArg(name: string, short: string): { schema: JsonObject; required: boolean } {
  const [, type = '', mark, fallback, about, options] = SHORT.exec(short) ?? []
  const base = type.includes('|') ? { enum: type.split('|') } : TYPES[type]
  if (base === undefined) throw new Error(`"${type}" is not a type of argument (${name}: ${short})`)
  const title = titleOf(name)
  return {
    required: mark === '!',
    schema: {
      ...base,
      title,
      ...(about && { description: about }),
      ...(fallback !== undefined && { default: defaultOf(fallback) }),
      ...(options !== undefined && { 'x-options': options }),
    },
  }
}

function argsSchema(action: ActionSource, common: ActionSource['args'], path: string): JsonObject {
  const properties: JsonObject = {}
  const required: string[] = []
  const take = (name: string, source: string | Record<string, Json>): void => {
    const isShort = typeof source === 'string'
    const { required: needed, ...given } = isShort ? { required: false } : source
    const expanded = isShort ? expandArg(name, source) : { schema: given as JsonObject, required: needed === true }
    properties[name] = { title: titleOf(name), ...expanded.schema }
    if (expanded.required) required.push(name)
  }
  for (const [name, source] of Object.entries({ ...common, ...action.args })) take(name, source)
  for (const [, name] of path.matchAll(/\{[+']?(\w+)\}/g)) if (!Object.hasOwn(properties, name!)) take(name!, 'string!')
  if (action.paginate && !Object.hasOwn(properties, 'max_items'))
    take('max_items', {
      type: 'integer',
      title: 'Max items',
      description: 'The maximum number of items; pages are fetched until it is reached',
      minimum: 1,
      maximum: 10_000,
      default: 100,
    })
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Computes a value at first use, because there are thousands of schemas and few are used. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export const usualEffect = (method: string): ServiceEffect =>
  method === 'GET' || method === 'HEAD' ? 'read' : method === 'POST' ? 'write' : 'idempotent'

function expandAction(service: Manifest, action: ActionSource): ServiceAction {
  const [method = '', path = ''] = action.request.split(' ')
  const usual = usualEffect(method)
  const safe = usual === 'write' && service.idempotency_header !== undefined ? 'idempotent' : usual
  const { args: _args, request: _request, ...rest } = action
  const schema = once(() => argsSchema(action, service.args, path))
  return {
    ...rest,
    method,
    path,
    description: action.description ?? action.title,
    effect: action.effect ?? safe,
    get args_schema() {
      return schema()
    },
  }
}

type TriggerSource = NonNullable<Manifest['triggers']>[number]

type HookSource = NonNullable<Manifest['hooks']>[number]

/** Returns the schema of the listed arguments. An argument that the action requires is required here as well. */
function argsOfAction(action: ServiceAction | undefined, args: readonly string[]): JsonObject {
  const { properties, required } = (action?.args_schema ?? {}) as { properties?: JsonObject; required?: string[] }
  return {
    type: 'object',
    properties: Object.fromEntries(args.map((name) => [name, properties?.[name] ?? {}])),
    required: (required ?? []).filter((name) => args.includes(name)),
    additionalProperties: false,
  }
}

function expandTrigger(trigger: TriggerSource, actions: ReadonlyMap<string, ServiceAction>): ServiceTrigger {
  const { args = [], ...rest } = trigger
  const schema = once(() => argsOfAction(actions.get(trigger.action), args))
  return {
    ...rest,
    description: trigger.description ?? trigger.title,
    get args_schema() {
      return schema()
    },
  }
}

function expandHook(hook: HookSource, actions: ReadonlyMap<string, ServiceAction>): ServiceHook {
  const { args = [], ...rest } = hook
  const schema = once(() => argsOfAction(actions.get(hook.register), args))
  return {
    ...rest,
    description: hook.description ?? hook.title,
    get args_schema() {
      return schema()
    },
  }
}

export function expandService(manifest: Manifest): Service {
  const actions = new Map(manifest.actions.map((action) => [action.name, expandAction(manifest, action)]))
  const triggers = (manifest.triggers ?? []).map((trigger) => [trigger.name, expandTrigger(trigger, actions)] as const)
  const hooks = (manifest.hooks ?? []).map((hook) => [hook.name, expandHook(hook, actions)] as const)
  return { ...manifest, actions, triggers: new Map(triggers), hooks: new Map(hooks) }
}
