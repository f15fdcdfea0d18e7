import type { Engine } from '#engine/ports'
import type { Json } from '#model/definition'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import type { Gates } from './gates.ts'
import type { AgentVote, Approvals } from './service.ts'
import * as store from './store.ts'

// Agents owe their votes as rows; whichever worker is free takes one, asks the model outside any transaction, and
// records the vote. A worker that dies in the middle leaves the row, and another asks again: at most one vote is recorded.

const LOOK_EVERY = 5 * SECOND
const AT_ONCE = 4
/** How long a review may take before another worker may try it. */
const LEASE_S = 120
const MOST_ATTEMPTS = 3

export type Review = (request: {
  agent: { id: string; name: string; instructions: string | null; model: string | null }
  title: string
  payload: Json
  signal: AbortSignal
}) => Promise<Omit<AgentVote, 'agent' | 'name'>>

type Owed = { workspace_id: string; request_id: string; agent: string }

export function makeReviews(options: {
  db: Database
  log: Logger
  approvals: Approvals
  gates: Gates
  engine: () => Pick<Engine, 'nudge'>
  review: Review
}) {
  const { db, log, approvals, gates } = options
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  /** Takes the review for a while, so that no other worker asks the model for the same. */
  async function take(owed: Owed): Promise<{ gate: store.Gate; agent: store.AgentRow; last: boolean } | undefined> {
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
      const agent = (await store.listAgents(tx, owed.workspace_id, owed.request_id)).find(
        (one) => one.agent === owed.agent,
      )
      if (gate?.status !== 'open' || !agent) return undefined
      return { gate, agent, last: taken.attempts >= MOST_ATTEMPTS }
    })
  }

  async function reviewOne(owed: Owed): Promise<void> {
    const taken = await take(owed)
    if (!taken) return
    const name = taken.agent.agent_name ?? owed.agent
    let vote: Omit<AgentVote, 'agent' | 'name'>
    try {
      vote = await options.review({
        agent: { id: owed.agent, name, instructions: taken.agent.instructions, model: taken.agent.model },
        title: taken.gate.title,
        payload: taken.gate.payload,
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout((LEASE_S - 20) * SECOND)]),
      })
    } catch (error) {
      if (stopping.signal.aborted || !taken.last) throw error
      vote = { decision: 'abstain', rationale: 'The model gave no usable answer.', confidence: null, evidence: null }
    }
    const executionId = await db.tenant({ workspaceId: owed.workspace_id, userId: null }, async (tx) => {
      const voted = await approvals.castAgentVote(tx, owed.workspace_id, owed.request_id, {
        agent: owed.agent,
        name,
        ...vote,
      })
      await tx.count('delete from agent_reviews where workspace_id = $1 and request_id = $2 and agent = $3', [
        owed.workspace_id,
        owed.request_id,
        owed.agent,
      ])
      return voted
    })
    if (executionId !== null) options.engine().nudge([executionId])
  }

  async function look(): Promise<void> {
    const { rows: owed } = await db.appPool.query<Owed>('select * from due_agent_reviews($1)', [AT_ONCE])
    await Promise.all(
      owed.map((one) =>
        reviewOne(one).catch((error: unknown) => log.warn({ err: error, agent: one.agent }, 'a review failed')),
      ),
    )
    const { rows: left } = await db.appPool.query<{ workspace_id: string }>(
      'select workspaces_to_recheck($1) as workspace_id',
      [100],
    )
    for (const { workspace_id } of left) await gates.recheckWorkspace(workspace_id)
    if (!stopping.signal.aborted) timer = setTimeout(wake, owed.length === AT_ONCE ? 0 : LOOK_EVERY)
  }

  function wake(): void {
    clearTimeout(timer)
    running = running.then(look).catch((error: unknown) => {
      log.warn({ err: error }, 'reviews could not be read')
      if (!stopping.signal.aborted) timer = setTimeout(wake, SECOND)
    })
  }

  return {
    start: wake,
    /** A gate with agents was opened, or somebody left: look now. */
    wake,
    async stop(): Promise<void> {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}
