import type { Config } from '../config.ts'
import type { Database, Tx } from '../db/pool.ts'
import { type Problem, problem } from '../errors.ts'
import type { Logger } from '../log.ts'

export type WorkspaceRole = 'owner' | 'member' | 'viewer' | 'guest'

export type Org = { org_id: string; name: string }
export type Person = {
  user_id: string
  org_id: string
  email: string
  name: string
  operator: boolean
  /** A service account of the workspace, which is not a person and has only API keys. */
  isServiceAccount?: true
}
export type SelectedWorkspace = { workspace_id: string; role: WorkspaceRole }

/** The credential of the caller; `id` is the id of its row. Idempotency and rate limits are counted per credential. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'session'; id: string }
  | {
      kind: 'api_key'
      id: string
      workspace_id: string | null
      /** Absent: the key may do everything that its person may do. */
      scopes?: readonly string[]
    }
  | { kind: 'webhook'; id: string; workspace_id: string; workflow_id: string }
  | {
      kind: 'embed'
      id: string
      workspace_id: string
      template_id: string | null
      workflow_id: string | null
      visitor_id: string | null
    }

export type Identity = {
  org: Org
  credential: Credential
  person: Person | null
  workspace: SelectedWorkspace | null
  /** The selected workspace requires a second factor, and the person has none. */
  factorMissing?: true
  /**
   * Present if the identity is from memory: checks whether it is still valid. Called in the request's transaction,
   * before its verb.
   */
  stillHolds?: (tx: Tx) => Promise<boolean>
}

/**
 * The first argument of every verb. Reading a person or a workspace that is absent refuses the request; there is no
 * default.
 */
export type Context = {
  readonly requestId: string
  readonly config: Config
  readonly org: Org
  readonly credential: Credential
  readonly person: Person
  readonly maybePerson: Person | null
  readonly workspace: SelectedWorkspace
  readonly maybeWorkspace: SelectedWorkspace | null
  /** The verb's only transaction. */
  readonly tx: Tx
  /** Null if the verb opens its own transactions. */
  readonly maybeTx: Tx | null
  readonly db: Database
  readonly log: Logger
  readonly address: string
  readonly baseUrl: string
  readonly idempotencyKey: string | null
  /** The language of the page or program that calls, such as `de`. Null if it names none. */
  readonly language: string | null
  /** The trace of the caller. Null if it names none, or if executions are not traced. */
  readonly traceparent: string | null
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal
  /**
   * Returns `signal`, for a verb that now waits for something outside: an execution, a provider, an upload. The request
   * uses no CPU during the wait, so its place goes to the next request of its tenant. A verb that only runs many
   * queries keeps its place.
   */
  stepAside(): AbortSignal
  /**
   * The verb now waits for a commit that it shares with other requests, such as the start of an execution. Its tenant
   * may have more of these at work, because they use neither the CPU nor a connection.
   */
  awaitCommit(): void
  /** Chooses a successful status other than the route's default. */
  status(code: number): void
  header(name: string, value: string): void
  /**
   * Runs after the transaction has committed, for example to wake listeners or close sockets. Correctness must not
   * depend on it.
   */
  afterCommit(work: () => void): void
}

export type ContextParts = Omit<Context, 'person' | 'workspace' | 'tx' | 'signal' | 'stepAside'> & {
  readonly hungUp: () => AbortSignal
  readonly leavePlace: () => void
}

/**
 * A caller without a workspace must create one first. This differs from a resource that was named and does not exist.
 */
const noWorkspace = (): Problem =>
  problem('not_found', 'You are not in a workspace yet. Create one with POST /api/workspaces, or accept an invitation.')

/** Shared by all contexts, because defining getters on each object costs more than the rest of creating it. */
const asking = {
  get person(): Person {
    const { maybePerson } = this as unknown as ContextParts
    if (maybePerson === null) throw problem('unauthenticated')
    return maybePerson
  },
  get workspace(): SelectedWorkspace {
    const { maybeWorkspace } = this as unknown as ContextParts
    if (maybeWorkspace === null) throw noWorkspace()
    return maybeWorkspace
  },
  get tx(): Tx {
    const { maybeTx } = this as unknown as ContextParts
    if (maybeTx === null) throw new Error('this route opens its own transactions')
    return maybeTx
  },
  get signal(): AbortSignal {
    return (this as unknown as ContextParts).hungUp()
  },
  stepAside(): AbortSignal {
    const { leavePlace, hungUp } = this as unknown as ContextParts
    leavePlace()
    return hungUp()
  },
}

export const makeContext = (parts: ContextParts): Context => Object.assign(Object.create(asking), parts)

/** Returns the same caller in a transaction that the verb opened itself. */
export const inTransaction = (ctx: Context, tx: Tx): Context =>
  Object.assign(Object.create(Object.getPrototypeOf(ctx)), ctx, { maybeTx: tx })

/** Returns the row security scope of this caller. */
export const scopeOf = (ctx: Pick<Context, 'maybeWorkspace' | 'maybePerson' | 'credential'>) => ({
  workspaceId: ctx.maybeWorkspace?.workspace_id ?? null,
  userId: ctx.maybePerson?.user_id ?? null,
  boundTo: ctx.credential.kind === 'api_key' ? ctx.credential.workspace_id : null,
})
