import { z } from 'zod'
import type { Json, JsonObject } from '#model/definition'
import type { AuthHint, Operation } from './openapi/index.ts'
import type { PiecePackage } from './pieces/index.ts'
import type { McpProgram } from './programs/index.ts'

// A service as data: what it offers, and the request that each action is. docs/services.md says how one is written. Nothing in
// a manifest is code: values stand in requests through the small mapping of template.ts.

const name = z.string().regex(/^[a-z][a-z0-9_]{0,59}$/)
/** A path of field names with dots; an empty text is the whole value. */
const path = z.string().regex(/^[^\s]*$/)
const paths = z.union([path, z.array(path).min(1)])
const json: z.ZodType<Json> = z.json() as z.ZodType<Json>
/** Values by the vendor's names, or a list of arguments that have the vendor's names already. */
const values = z.union([z.record(z.string(), json), z.array(name).min(1)])
/** `"string! The name"`, or a JSON Schema with `required: true` where it is needed. See expand.ts. */
const args = z.record(name, z.union([z.string().min(1), z.record(z.string(), json)]))

export const effects = ['read', 'idempotent', 'write'] as const

const pages = z.strictObject({
  /** Where the items of a page are. */
  items: path,
  /** The token of the next page, and the parameter that takes it. */
  next: path.optional(),
  param: z.string().optional(),
  in: z.enum(['query', 'json']).optional(),
  /** The address of the next page: in the body, or in the header `Link`. */
  url: path.optional(),
  link: z.literal(true).optional(),
  /** The parameter that counts pages from 1, or the items before the page from 0. */
  page: z.string().optional(),
  offset: z.string().optional(),
  /** The parameter that takes a field of the last item. */
  after: z.tuple([z.string(), path]).optional(),
  /** Whether there is another page; false ends it whatever else the answer holds. */
  more: path.optional(),
  /** The parameter for the size of a page, and how large it may be. */
  size: z.tuple([z.string(), z.number().int().min(1)]).optional(),
})

const errors = z.strictObject({
  message: paths.optional(),
  code: paths.optional(),
  /** Answers with status 200 that are failures: where this is false, or where that is there. */
  ok: path.optional(),
  failed: path.optional(),
  rate: z
    .strictObject({
      /** Codes of the vendor that ask to wait. */
      codes: z.array(z.union([z.string(), z.number()])).optional(),
      /** With status 403, this header at 0 says that the limit is reached. */
      remaining: z.string().optional(),
      /** When to try again, besides `Retry-After`. */
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
  /** Drive and its like: JSON and a file in one body. */
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
  output: json.optional(),
  /** Base64 inside of the answer that becomes a file: where it is, and what the file is called. */
  save: z.strictObject({ data: path, name: json, media_type: json }).optional(),
  paginate: pages.optional(),
  /** Not shown in the palette: it serves choices and triggers. */
  hidden: z.literal(true).optional(),
})

/** Starts a workflow with each item that an action lists anew. */
const Trigger = z.strictObject({
  name,
  title: z.string().min(1),
  description: z.string().optional(),
  action: name,
  /** The arguments of the action that a person sets, and those that are set already. */
  args: z.array(name).optional(),
  fixed: z.record(name, json).optional(),
  /** What an item is known by: paths, each with others after `|` where the first is absent. */
  key: z.array(path).min(1),
  newest: z.enum(['first', 'last']).optional(),
  /** What is new may stand anywhere in the list, so that all of it is read. */
  unsorted: z.literal(true).optional(),
})

const verify = z.discriminatedUnion('kind', [
  /** The secret itself stands in a header. */
  z.strictObject({ kind: z.literal('equal'), header: z.string() }),
  z.strictObject({
    kind: z.literal('hmac'),
    preset: z.enum(['github', 'stripe', 'custom']),
    header: z.string().optional(),
    prefix: z.string().optional(),
    encoding: z.enum(['hex', 'base64']).optional(),
  }),
  /** The secret itself stands in each item of the body. It is not kept. */
  z.strictObject({ kind: z.literal('body'), field: z.string().regex(/^\w+$/) }),
])
const place = z.strictObject({ header: z.string().optional(), body: path.optional() })

/** Starts a workflow with what the vendor sends to an address that is registered there. */
const Hook = z.strictObject({
  name,
  title: z.string().min(1),
  description: z.string().optional(),
  /**
   * Actions; all are given the arguments of the trigger, the first also `hook_url`, `hook_secret` and `hook_id`. Where the registration ends by
   * itself, `register` and `renew` are given when: `hook_until`, and the same in milliseconds as `hook_until_ms`.
   */
  register: name,
  unregister: name,
  /** Where it is absent and the registration ends, another is registered in time and the old one is taken back. */
  renew: name.optional(),
  /** How long a registration is asked for, and where the answer says when it ends: a time, or milliseconds. */
  lasts_s: z.int().min(600).optional(),
  expires: path.optional(),
  /** The arguments of `register` that a person sets, and those that are set already. */
  args: z.array(name).optional(),
  fixed: z.record(name, json).optional(),
  /** Arguments of `unregister`, by where they stand in what `register` gives. */
  keep: z.record(name, path).optional(),
  /** The action that lists what is registered, and where the address stands in each: what a crash left behind is found by it. */
  find: z.strictObject({ action: name, url: path }).optional(),
  verify,
  /** A request with this parameter asks the receiver to repeat its value. */
  handshake: z.strictObject({ query: z.string() }).optional(),
  /** Where the events of a request are, if it holds several; or the headers that an event is made of. */
  items: path.optional(),
  headers: z.record(name, z.string()).optional(),
  /** Where the vendor numbers its deliveries (several headers with spaces between them), and where it names the event. */
  delivery: place.optional(),
  event: place.optional(),
  /** Events that say nothing. */
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
  /** The vendor's reference. */
  reference: z.url(),
  /** The known services of the vault whose credentials fit; none where the service needs none. */
  credentials: z.array(name),
  credential_optional: z.literal(true).optional(),
  base_url: z.string(),
  headers: z.record(z.string(), json).optional(),
  args: args.optional(),
  /** How lists stand in forms: `a[0]=`, `a[]=` or `a=` again and again. */
  form_lists: z.enum(['index', 'brackets', 'repeat']).optional(),
  /** The header with which the vendor knows a repeated request. */
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

/** An action as it runs: its method and path apart, its arguments as a JSON Schema. */
export type ServiceAction = Omit<ActionSource, 'args' | 'request' | 'effect' | 'description'> & {
  description: string
  method: string
  path: string
  effect: ServiceEffect
  args_schema: JsonObject
  /** Of an imported document: how its arguments become a request, instead of the mapping of a manifest. */
  operation?: Operation
  /** Of an MCP server: the tool that is called instead of a request that is sent. */
  tool?: string
  /** Of a piece: the action that its code knows. */
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
  /** Of a service that the workspace imported: any credential may be used, and its hosts decide. */
  imported?: { auth: AuthHint[]; credential_required: boolean }
  /** Of a piece: the code that runs behind the wall. */
  piece?: PiecePackage
  /** Of an MCP server that is a program: the code that runs behind the wall. */
  program?: McpProgram
}
