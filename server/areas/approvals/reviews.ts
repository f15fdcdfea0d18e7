import type { Policy } from '#model/approval'
import type { Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { makePeriodicCheck, type PeriodicCheck } from '#platform/periodic-check'
import type { Gates } from './gates.ts'
import { policyText } from './policy.ts'
import type { AgentVote, Approvals } from './service.ts'
import * as store from './store.ts'
import * as voting from './voting-store.ts'

// The votes that agents owe are rows. Any free worker takes a row, calls the model outside a transaction and records
// the vote. If the worker dies, the row stays and another worker calls the model again; at most one vote is recorded. A
// slow model delays only its own vote, because each review has its own slot.

const POLL_EVERY = 5 * SECOND
const AT_ONCE = 16
const AT_ONCE_OF_ONE_WORKSPACE = 4
/** The maximum time in seconds of a review. After that another worker may try it. */
const LEASE_S = 120
const MAX_ATTEMPTS = 3

export type Review = (request: {
  workspaceId: string
  executionId: string
  /** The credential of the model that the approver names. */
  credentialId: string | undefined
  agent: { id: string; name: string; instructions: string | null; model: string | null }
  title: string
  payload: Json
  /** How the gate decides, as a text. */
  policyText: string
  signal: AbortSignal
}) => Promise<Omit<AgentVote, 'agent' | 'name'>>

type Owed = { workspace_id: string; request_id: string; agent: string }

const credentialOf = ({ approvers, escalate_to }: Policy, agent: string): string | undefined =>
  [...approvers, ...escalate_to].find(({ kind, id }) => kind === 'agent' && id === agent)?.credential_id

type ReviewsOptions = { db: Database; log: Logger; approvals: Approvals; gates: Gates; review: Review }

type State = ReviewsOptions & {
  stopping: AbortController
  underWay: Map<Owed, Promise<void>>
}

/** Leases the review, so that no other worker calls the model for the same vote. */
async function take(
  { db }: State,
  owed: Owed,
): Promise<{ gate: store.Gate; agent: voting.AgentRow; last: boolean } | undefined> {
  return db.tenant({ workspaceId: owed.workspace_id, userId: null }, async (tx) => {
    const taken = await tx.maybe<{ attempts: number }>(
      `update agent_reviews set attempts = attempts + 1, not_before = now() + make_interval(secs => $4)
       where (workspace_id, request_id, agent) in (select workspace_id, request_id, agent from agent_reviews
         where workspace_id = $1 and request_id = $2 and agent = $3 and not_before <= now() for update skip locked)
       returning attempts`,
      [owed.workspace_id, owed.request_id, owed.agent, LEASE_S],
    )
    if (!taken) return undefined
    const gate = await store.findGate(tx, owed.workspace_id, owed.request_id)
    const agent = (await voting.listAgents(tx, owed.workspace_id, [owed.request_id])).find(
      (one) => one.agent === owed.agent,
    )
    if (gate?.status !== 'open' || !agent) return undefined
    return { gate, agent, last: taken.attempts >= MAX_ATTEMPTS }
  })
}

async function reviewOne(state: State, owed: Owed): Promise<void> {
  const { db, approvals, review, stopping } = state
  const taken = await take(state, owed)
  if (!taken) return
  const name = taken.agent.agent_name ?? owed.agent
  let vote: Omit<AgentVote, 'agent' | 'name'>
  try {
    vote = await review({
      workspaceId: owed.workspace_id,
      executionId: taken.gate.execution_id,
      credentialId: credentialOf(taken.gate.policy, owed.agent),
      agent: { id: owed.agent, name, instructions: taken.agent.instructions, model: taken.agent.model },
      title: taken.gate.title,
      payload: taken.gate.payload,
      policyText: policyText(taken.gate.policy),
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout((LEASE_S - 20) * SECOND)]),
    })
  } catch (error) {
    if (stopping.signal.aborted || !taken.last) throw error
    vote = { decision: 'abstain', rationale: 'The model gave no usable answer.', confidence: null, evidence: null }
  }
  await db.tenant({ workspaceId: owed.workspace_id, userId: null }, async (tx) => {
    await approvals.castAgentVote(tx, owed.workspace_id, owed.request_id, {
      agent: owed.agent,
      name,
      ...vote,
    })
    await tx.count('delete from agent_reviews where workspace_id = $1 and request_id = $2 and agent = $3', [
      owed.workspace_id,
      owed.request_id,
      owed.agent,
    ])
  })
}

const hasRoomFor = ({ underWay }: State, { workspace_id }: Owed): boolean =>
  underWay.size < AT_ONCE &&
  [...underWay.keys()].filter((one) => one.workspace_id === workspace_id).length < AT_ONCE_OF_ONE_WORKSPACE

function begin(state: State, owed: Owed, onEnd: () => void): void {
  const { log, underWay } = state
  const review = reviewOne(state, owed)
    .catch((error: unknown) => log.warn({ err: error, agent: owed.agent }, 'a review failed'))
    .finally(() => {
      underWay.delete(owed)
      onEnd()
    })
  underWay.set(owed, review)
}

async function look(state: State, onEnd: () => void): Promise<number> {
  const { db, gates } = state
  const { rows: owed } = await db.appPool.query<Owed>('select * from due_agent_reviews($1, $2)', [
    AT_ONCE,
    AT_ONCE_OF_ONE_WORKSPACE,
  ])
  for (const one of owed) if (hasRoomFor(state, one)) begin(state, one, onEnd)
  const { rows: left } = await db.appPool.query<{ workspace_id: string }>(
    'select workspaces_to_recheck($1) as workspace_id',
    [100],
  )
  for (const { workspace_id } of left) await gates.recheckWorkspace(workspace_id)
  return POLL_EVERY
}

/** The worker for reviews. `wake` is called when a gate with agents is opened or a person has left. */
export function makeReviews(options: ReviewsOptions): PeriodicCheck {
  const state: State = { ...options, stopping: new AbortController(), underWay: new Map() }
  const looking: PeriodicCheck = makePeriodicCheck({
    check: () => look(state, looking.wake),
    onError: (error) => options.log.warn({ err: error }, 'reviews could not be read'),
  })
  return {
    ...looking,
    async stop() {
      state.stopping.abort()
      await looking.stop()
      await Promise.all(state.underWay.values())
    },
  }
}
