import { z } from 'zod'
import type { Json, JsonObject } from '#model/definition'
import type { AuthHint, Operation } from './openapi/index.ts'
import type { PiecePackage } from './pieces/index.ts'
import type { McpProgram } from './programs/index.ts'

// A service as data: its actions, and the request of each action. docs/services.md describes the format. A manifest
// contains no code: values are placed into requests by the small mapping in template.ts.

const name = z.string().regex(/^[a-z][a-z0-9_]{0,59}$/)
/** A path of field names separated by dots. An empty text is the whole value. */
const path = z.string().regex(/^[^\s]*$/)
const paths = z.union([path, z.array(path).min(1)])
const json: z.ZodType<Json> = z.json() as z.ZodType<Json>
/** Values by the vendor's names, or a list of arguments that already have the vendor's names. */
const values = z.union([z.record(z.string(), json), z.array(name).min(1)])
/** `"string! The name"`, or a JSON Schema with `required: true` if the argument is required. See expand.ts. */
const args = z.record(name, z.union([z.string().min(1), z.record(z.string(), json)]))

export const effects = ['read', 'idempotent', 'write'] as const

const pages = z.strictObject({
  /** The path of the items of a page. */
  items: path,
  /** The path of the next page's token, and the parameter that sends it. */
  next: path.optional(),
  param: z.string().optional(),
  in: z.enum(['query', 'json']).optional(),
  /** The address of the next page: in the body, or in the `Link` header. */
  url: path.optional(),
  link: z.literal(true).optional(),
  /** The parameter that counts pages from 1, or the parameter that counts the preceding items from 0. */
  page: z.string().optional(),
  offset: z.string().optional(),
  /** The parameter that sends a field of the last item, and the path of that field. */
  after: z.tuple([z.string(), path]).optional(),
  /** The path of the value that says whether there is another page. False always ends the list. */
  more: path.optional(),
  /** The parameter for the size of a page, and the maximum size. */
  size: z.tuple([z.string(), z.number().int().min(1)]).optional(),
})

const errors = z.strictObject({
  message: paths.optional(),
  code: paths.optional(),
  /** Detects failures with status 200: the value at `ok` is false, or there is a value at `failed`. */
  ok: path.optional(),
  failed: path.optional(),
  /** The vendor's codes for an expired token, if the status is not 401. The token is renewed and the call is repeated. */
  expired: z.array(z.string()).optional(),
  rate: z
    .strictObject({
      /** The vendor's error codes for rate limits. */
      codes: z.array(z.union([z.string(), z.number()])).optional(),
      /** A header whose value 0 means, with status 403 or 400, that the rate limit is reached. */
      remaining: z.string().optional(),
      /** The time of the next attempt, in addition to `Retry-After`. */
      reset: z.strictObject({ header: z.string(), as: z.enum(['seconds', 'milliseconds', 'epoch']) }).optional(),
      after: path.optional(),
    })
    .optional(),
})

const call = {
  request: z.string().regex(/^(GET|POST|PUT|PATCH|DELETE|HEAD) \/\S*$/),
  base_url: z.string().optional(),
  query: values.optional(),
  headers: z.record(z.string(), json).optional(),
  json: z.union([values, z.string()]).optional(),
  form: values.optional(),
  multipart: values.optional(),
  /** JSON and a file in one body, as Google Drive requires. */
  related: z.strictObject({ json: values, file: z.string() }).optional(),
  file: z.string().optional(),
  text: json.optional(),
}

export const Action = z.strictObject({
  name,
  title: z.string().min(1),
  description: z.string().optional(),
  effect: z.enum(effects).optional(),
  args: args.optional(),
  ...call,
  response: z.enum(['json', 'text', 'xml', 'file']).optional(),
  /** The paths of which at least one has a value in every valid response. */
  expects: paths.optional(),
  output: json.optional(),
  /** Base64 data in the response that becomes a file: its path, and the name and type of the file. */
  save: z.strictObject({ data: path, name: json, media_type: json }).optional(),
  paginate: pages.optional(),
  /** Not shown in the palette: the action only serves choices and triggers. */
  hidden: z.literal(true).optional(),
})

/** Starts a workflow for each new item that an action lists. */
const Trigger = z.strictObject({
  name,
  title: z.string().min(1),
  description: z.string().optional(),
  action: name,
  /** The arguments of the action that a person sets, and the arguments with fixed values. */
  args: z.array(name).optional(),
  fixed: z.record(name, json).optional(),
  /** The paths that identify an item. Each path can have alternatives after `|`, used if the first is absent. */
  key: z.array(path).min(1),
  newest: z.enum(['first', 'last']).optional(),
  /** New items may be anywhere in the list, so the whole list is read. */
  unsorted: z.literal(true).optional(),
})

const verify = z.discriminatedUnion('kind', [
  /** The secret itself is in a header. */
  z.strictObject({ kind: z.literal('equal'), header: z.string() }),
  z.strictObject({
    kind: z.literal('hmac'),
    preset: z.enum(['github', 'stripe', 'custom']),
    header: z.string().optional(),
    prefix: z.string().optional(),
    encoding: z.enum(['hex', 'base64']).optional(),
  }),
  /** The secret itself is in each item of the body. The secret is not stored with the event. */
  z.strictObject({ kind: z.literal('body'), field: z.string().regex(/^\w+$/) }),
])
const place = z.strictObject({ header: z.string().optional(), body: path.optional() })

/** Starts a workflow with the events that the vendor sends to a registered address. */
const Hook = z.strictObject({
  name,
  title: z.string().min(1),
  description: z.string().optional(),
  /**
   * Names of actions. All receive the arguments of the trigger; `register` also receives `hook_url`, `hook_secret` and
   * `hook_id`. If the registration expires, `register` and `renew` also receive its end as `hook_until`, and in
   * milliseconds as `hook_until_ms`.
   */
  register: name,
  unregister: name,
  /** If absent and the registration expires, a new registration is made in time and the old one is removed. */
  renew: name.optional(),
  /** The requested duration of a registration, and the path of its end in the response: a time, or milliseconds. */
  lasts_s: z.int().min(600).optional(),
  expires: path.optional(),
  /** The arguments of `register` that a person sets, and the arguments with fixed values. */
  args: z.array(name).optional(),
  fixed: z.record(name, json).optional(),
  /** Arguments of `unregister`, by their path in the output of `register`. */
  keep: z.record(name, path).optional(),
  /**
   * The action that lists the registrations, and the path of the address in each. It finds registrations left over from
   * a crash.
   */
  find: z.strictObject({ action: name, url: path }).optional(),
  verify,
  /** A request with this query parameter asks the receiver to return the parameter's value. */
  handshake: z.strictObject({ query: z.string() }).optional(),
  /** The path of the events if a request contains several, or the headers that make up an event. */
  items: path.optional(),
  headers: z.record(name, z.string()).optional(),
  /** The location of the delivery id (one or more headers, separated by spaces), and the location of the event name. */
  delivery: place.optional(),
  event: place.optional(),
  /** Events to ignore. */
  skip: z.array(z.string()).optional(),
})

const Options = z.strictObject({
  action: name,
  value: path,
  label: path,
  args: z.record(name, json).optional(),
})

export const Manifest = z.strictObject({
  service: name,
  title: z.string().min(1),
  description: z.string().min(1),
  keywords: z.array(z.string()).optional(),
  /** The address of the vendor's documentation. */
  reference: z.url(),
  /** The services of the vault whose credentials can be used. Empty if the service needs no credential. */
  credentials: z.array(name),
  credential_optional: z.literal(true).optional(),
  base_url: z.string(),
  headers: z.record(z.string(), json).optional(),
  args: args.optional(),
  /** The format of lists in forms: `a[0]=`, `a[]=` or repeated `a=`. */
  form_lists: z.enum(['index', 'brackets', 'repeat']).optional(),
  /** The header by which the vendor recognises a repeated request. */
  idempotency_header: z.string().optional(),
  errors: errors.optional(),
  options: z.record(name, Options).optional(),
  actions: z.array(Action).min(1),
  triggers: z.array(Trigger).optional(),
  hooks: z.array(Hook).optional(),
})

export type Manifest = z.output<typeof Manifest>
export type ActionSource = z.output<typeof Action>
export type Pages = z.output<typeof pages>
export type Errors = z.output<typeof errors>
export type Values = z.output<typeof values>
export type ServiceEffect = (typeof effects)[number]

/** An action in executable form: method and path are separate, and the arguments are a JSON Schema. */
export type ServiceAction = Omit<ActionSource, 'args' | 'request' | 'effect' | 'description'> & {
  description: string
  method: string
  path: string
  effect: ServiceEffect
  args_schema: JsonObject
  /** For an imported document: how the arguments become a request, instead of the mapping of a manifest. */
  operation?: Operation
  /** For an MCP server: the tool to call instead of sending a request. */
  tool?: string
  /** For a piece: the name of the action in the piece's code. */
  part?: string
}

export type ServiceTrigger = Omit<z.output<typeof Trigger>, 'args' | 'description'> & {
  description: string
  args_schema: JsonObject
}

export type ServiceHook = Omit<z.output<typeof Hook>, 'args' | 'description'> & {
  description: string
  args_schema: JsonObject
}

export type Service = Omit<Manifest, 'actions' | 'triggers' | 'hooks'> & {
  actions: ReadonlyMap<string, ServiceAction>
  triggers: ReadonlyMap<string, ServiceTrigger>
  hooks: ReadonlyMap<string, ServiceHook>
  /** For a service that the workspace imported: any credential may be used whose hosts allow it. */
  imported?: { auth: AuthHint[]; credential_required: boolean }
  /** For a piece: the code that runs behind the wall. */
  piece?: PiecePackage
  /** For an MCP server that is a program: the code that runs behind the wall. */
  program?: McpProgram
}
