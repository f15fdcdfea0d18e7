import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { AreaName, Scope } from '#model/scopes'
import type { Access } from '../access/rules.ts'
import { type DeclaredVerb, scopeOfRoute } from '../access/scopes.ts'
import type { Context } from './context.ts'
import type { Deprecated } from './deprecation.ts'
import type { EventStream } from './stream.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * `operation: [method, path, access]`: the table at the start of every routes.ts. A fourth value is the verb of the
 * scope that an API key needs, if that differs from the verb derived from the method and the access.
 */
export type RouteTable = Record<string, readonly [method: Method, path: string, access: Access, verb?: DeclaredVerb]>

type PathParameters<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? { [K in Name]: string } & PathParameters<Tail>
    : { [K in Rest]: string }
  : unknown

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown

export type Input<Path extends string, Query, Body> = PathParameters<Path> & OutputOf<Query> & OutputOf<Body>

/** What a route may read and write besides its JSON: streams, raw bodies, cookies. */
export type Exchange = {
  request: FastifyRequest
  reply: FastifyReply
  ahead?: Promise<unknown> | undefined
  /** Present if the route `streams` and the caller accepts a stream. */
  stream?: EventStream | undefined
}

export type Route<Path extends string, Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType> = {
  summary: string
  description?: string
  query?: Query
  body?: Body
  /**
   * `any`: the body is any JSON and is passed as `input.body`. `stream`: the body is not read; use `exchange.request`.
   */
  bodyKind?: 'json' | 'any' | 'stream'
  /** Content types that the body may have, for the OpenAPI document. */
  consumes?: string[]
  /**
   * The JSON and the form fields of a body that the verb reads itself, and the JSON that it writes itself by status, for
   * the OpenAPI document. A response without a body is null.
   */
  described?: { json?: z.ZodType; form?: z.ZodType; answers?: Record<number, z.ZodType | null> }
  bodyLimit?: 'dataset' | 'document' | 'import' | 'audio' | 'file'
  answer?: Answer
  /** A field that the response has besides those of the resource. Its ETag does not cover it, so that GET returns the same. */
  besides?: string
  /** The content types of a route that writes its response itself (bytes, pages). */
  produces?: string[]
  /**
   * With `Accept: text/event-stream` the response is a stream of events: those that the verb sends, then `done`. The
   * verb itself finds the earlier request with the same key, so that a disconnected client can resume the stream.
   */
  streams?: true
  /** The default is 200. A verb may choose another status with `ctx.status(202)`. */
  status?: 200 | 201 | 202 | 204 | 302
  /** Other successful statuses that the verb may choose. */
  alsoStatus?: (200 | 201 | 202 | 204 | 206)[]
  /** The GET is not a read, so HEAD is refused. */
  withoutHead?: true
  /** Refusals besides those of this kind of route, for the OpenAPI document. */
  alsoRefuses?: (401 | 402 | 403 | 405 | 409 | 410 | 412 | 413 | 415 | 416 | 502 | 504)[]
  /**
   * Returns the location of the created resource: its own address if it can be read alone, else the list that contains
   * it.
   */
  location?: (answer: Record<string, string>, path: string) => string
  /**
   * Returns the current state of the resource, or undefined if a PUT may create it. Enables ETag, If-Match and the
   * check that server-owned fields are unchanged.
   */
  current?: (ctx: Context, input: PathParameters<Path>) => Promise<unknown>
  /**
   * Refuses callers whom the verb would refuse for any input (403, 404), if the access word cannot. Called only when
   * the input is invalid, so that this refusal comes before the error about the input. Without it, `current` is called.
   */
  allowed?: (ctx: Context, input: PathParameters<Path>, exchange: Exchange) => Promise<unknown>
  /**
   * Sends statements together with those of the access check. The verb gets the result in `exchange.ahead`; nothing
   * else uses it.
   */
  ahead?: (ctx: Context, input: PathParameters<Path>) => Promise<unknown>
  /**
   * As above, for statements that need the body. The body is then read first, but its errors are still reported last.
   */
  aheadWithInput?(ctx: Context, input: Input<Path, Query, Body>): Promise<unknown> | undefined
  /**
   * False: the verb opens its own transactions (streams, outside calls, starting executions). A function decides at run
   * time.
   */
  transaction?: false | (() => boolean)
  /**
   * `own`: the verb stores the key itself. `none`: responses that must not be stored (sign-in, audio). `anywhere`: the
   * created resource belongs to no workspace, and the key applies regardless of the selected one.
   */
  idempotency?: 'own' | 'none' | 'anywhere'
  /** Stricter rate limits, for example for sign-in and sign-up. */
  rate?: 'sign_in' | 'sign_up' | 'visitor'
  /**
   * Returns the challenge for a caller without a credential, in addition to `Bearer`: where to get one, under the
   * address of the service.
   */
  challenge?: (baseUrl: string) => string
  /** Announces the end of the operation. */
  deprecated?: Deprecated
  /** The operation is an addition to the interface document. */
  extension?: true
  examples?: { body?: unknown; answer?: unknown }
  run(ctx: Context, input: Input<Path, Query, Body>, exchange: Exchange): Promise<z.input<Answer> | void>
}

/** A route as the kernel stores it, without its types. */
export type AnyRoute = {
  operation: string
  area: string
  method: Method
  path: string
  access: Access
  /** The scope that an API key needs. Null if no scope is needed. */
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

/**
 * Binds a table to the definitions of its operations. An operation without an access word, or without a verb, does not
 * compile.
 */
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
