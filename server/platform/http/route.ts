import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { AreaName, Scope } from '#model/scopes'
import { type DeclaredVerb, scopeOfRoute } from '../access/scopes.ts'
import type { Access } from '../access/words.ts'
import type { Context } from './context.ts'
import type { Deprecated } from './deprecation.ts'
import type { EventStream } from './stream.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * `operation: [method, path, access]`: the table with which every routes.ts opens. A fourth word says what a scoped API key needs
 * where that is not what the method and the access say.
 */
export type RouteTable = Record<string, readonly [method: Method, path: string, access: Access, verb?: DeclaredVerb]>

type PathParameters<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? { [K in Name]: string } & PathParameters<Tail>
    : { [K in Rest]: string }
  : unknown

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown

export type Input<Path extends string, Query, Body> = PathParameters<Path> & OutputOf<Query> & OutputOf<Body>

/** What a route may read and write beyond its JSON: streams, raw bodies, cookies. */
export type Exchange = {
  request: FastifyRequest
  reply: FastifyReply
  ahead?: Promise<unknown> | undefined
  /** Where the route `streams` and the caller wants that. */
  stream?: EventStream | undefined
}

export type Route<Path extends string, Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType> = {
  summary: string
  description?: string
  query?: Query
  body?: Body
  /** `any`: the body is any JSON and arrives as `input.body`. `stream`: nothing is read; take it from `exchange.request`. */
  bodyKind?: 'json' | 'any' | 'stream'
  /** Content types that the body may have, for the OpenAPI document. */
  consumes?: string[]
  /** For the OpenAPI document, where the verb reads the body itself: its JSON, and the parts of its form. */
  described?: { json?: z.ZodType; form?: z.ZodType }
  bodyLimit?: 'dataset' | 'document' | 'import' | 'audio' | 'file'
  answer?: Answer
  /** A route that writes its answer itself (bytes, pages); with its content types. */
  produces?: string[]
  /**
   * With `Accept: text/event-stream` the answer comes as events: what the verb sends, then `done`. The verb itself finds the earlier
   * request of a key, so that a client whose connection was cut can take the stream up again.
   */
  streams?: true
  /** 200 unless said; a verb may choose another with `ctx.status(202)`. */
  status?: 200 | 201 | 202 | 204 | 302
  /** Other successful statuses it may choose. */
  alsoStatus?: (200 | 201 | 202 | 204 | 206)[]
  /** Refusals beyond those that its kind of route can give, for the OpenAPI document. */
  alsoRefuses?: (401 | 402 | 403 | 405 | 409 | 410 | 412 | 413 | 415 | 416 | 502 | 504)[]
  /** Of what was made: its own address where it can be read alone, else the list in which it stands. */
  location?: (answer: Record<string, string>, path: string) => string
  /**
   * The resource as it stands, undefined where a PUT may make it: gives ETag, If-Match and the check that server-owned
   * fields are not changed.
   */
  current?: (ctx: Context, input: PathParameters<Path>) => Promise<unknown>
  /**
   * Refuses whom the verb would refuse whatever they sent (403, 404), where the access word cannot. Asked only when the input
   * is not valid, so that this is not said first; `current` is asked where this is not given.
   */
  allowed?: (ctx: Context, input: PathParameters<Path>, exchange: Exchange) => Promise<unknown>
  /** Statements that travel with those of the access check: the verb has them in `exchange.ahead`, nobody else sees them. */
  ahead?: (ctx: Context, input: PathParameters<Path>) => Promise<unknown>
  /** The same for statements that need the body. It is read first then; what is wrong with it is still said last. */
  aheadWithInput?(ctx: Context, input: Input<Path, Query, Body>): Promise<unknown> | undefined
  /** false: the verb opens its own transactions (streams, outside calls, starting executions); asked where it depends. */
  transaction?: false | (() => boolean)
  /**
   * `own`: the verb stores the key itself. `none`: answers that must not be stored (sign-in, audio). `anywhere`: what is made
   * is in no workspace, and the key holds whichever is selected.
   */
  idempotency?: 'own' | 'none' | 'anywhere'
  /** Sign-in and sign-up count against tighter limits. */
  rate?: 'sign_in' | 'sign_up' | 'visitor'
  /** What a caller without a credential is told besides `Bearer`: where to get one, under the address of the service. */
  challenge?: (baseUrl: string) => string
  /** Announces the end of the operation. */
  deprecated?: Deprecated
  /** An addition to the interface document. */
  extension?: true
  examples?: { body?: unknown; answer?: unknown }
  run(ctx: Context, input: Input<Path, Query, Body>, exchange: Exchange): Promise<z.input<Answer> | void>
}

/** A route as the kernel keeps it, its types erased. */
export type AnyRoute = {
  operation: string
  area: string
  method: Method
  path: string
  access: Access
  /** What a scoped API key needs; null where no key is asked for. */
  scope: Scope | null
} & Omit<
  Route<string, z.ZodType, z.ZodType, z.ZodType>,
  'run' | 'current' | 'allowed' | 'location' | 'ahead' | 'aheadWithInput'
> & {
    run(ctx: Context, input: never, exchange: Exchange): Promise<unknown>
    current?: (ctx: Context, input: never) => Promise<unknown>
    allowed?: (ctx: Context, input: never, exchange: Exchange) => Promise<unknown>
    ahead?: (ctx: Context, input: never) => Promise<unknown>
    aheadWithInput?(ctx: Context, input: never): Promise<unknown> | undefined
    location?: (answer: never, path: string) => string
  }

export const isOneTransaction = ({ transaction }: Pick<AnyRoute, 'transaction'>): boolean =>
  typeof transaction === 'function' ? transaction() : transaction !== false

/** Binds a table to what each operation does. An operation without an access word, or without a verb, does not compile. */
export function routes<
  const Table extends RouteTable,
  Queries extends Record<keyof Table, z.ZodType>,
  Bodies extends Record<keyof Table, z.ZodType>,
  Answers extends Record<keyof Table, z.ZodType>,
>(
  area: AreaName,
  table: Table,
  verbs: {
    [Operation in keyof Table]: Route<Table[Operation][1], Queries[Operation], Bodies[Operation], Answers[Operation]>
  },
): AnyRoute[] {
  return Object.entries(table).map(([operation, [method, path, access, verb]]) => ({
    operation,
    area,
    method,
    path,
    access,
    scope: scopeOfRoute(area, method, access, verb),
    ...(verbs[operation as keyof Table] as unknown as Omit<
      AnyRoute,
      'operation' | 'area' | 'method' | 'path' | 'access' | 'scope'
    >),
  }))
}
