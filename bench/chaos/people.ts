import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '#platform/clock'
import { fromWire } from '#platform/ids'
import { post } from '../world.ts'

// A load that involves people: executions that wait for a timer, a child, a map, a vote and an answer. Callers that do
// not give up and a schedule start them; people vote and answer at once. None of these executions can fail by itself.

export type PeopleLoad = {
  /** Ids of the executions whose start was acknowledged. */
  started: string[]
  votes: number
  answers: number
  refused: { unavailable: number; unreachable: number }
  /** Responses that no caller should get. */
  wrong: string[]
  /** When the last start, vote or answer was acknowledged. Callers may pause, but then there are votes and answers. */
  lastAcknowledgedAt(): number
  /** Stops starting executions; waiting executions are still answered. */
  startNoMore(): Promise<void>
  finish(): Promise<void>
}

const AGAIN_MS = 50
const ANSWER_WITHIN = 10 * SECOND
/** Callers wait while more executions are in progress, because overload is tested by another scenario. */
const MAX_UNDER_WAY = 200
const COUNT_EVERY = SECOND / 4

export type Workflows = { parent: string; child: string }

export async function makeWorkflows(base: string, key: string): Promise<Workflows> {
  const { workflow_id: child } = await post(base, '/api/workflows', key, {
    name: 'Child',
    definition: { nodes: [{ id: 'echo', type: 'echo', args: { value: { $ref: 'input' } } }], edges: [] },
  })
  const echo = { nodes: [{ id: 'echo', type: 'echo', args: { value: 1 } }], edges: [] }
  const policy = { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any', allow_self: true }
  const middle = ['large', 'each', 'child', 'gate', 'ask']
  const { workflow_id: parent } = await post(base, '/api/workflows', key, {
    name: 'Parent',
    definition: {
      nodes: [
        { id: 'pause', type: 'wait', args: { for_s: 0.05 } },
        // This output is stored in the blob store, and is read back each time the execution continues.
        { id: 'large', type: 'set', args: { values: { n: { $ref: 'input.n' }, text: 'x'.repeat(40_000) } } },
        { id: 'each', type: 'map', args: { items: [1, 2, 3], body: echo } },
        { id: 'child', type: 'subworkflow', args: { workflow_id: child, input: { n: { $ref: 'input.n' } } } },
        { id: 'gate', type: 'approval', args: { title: 'Go?', payload: { n: { $ref: 'input.n' } }, policy } },
        { id: 'ask', type: 'clarification', args: { question: 'Well?', schema: { type: 'string' } } },
        { id: 'done', type: 'echo', args: { value: { $ref: 'input.n' } } },
      ],
      edges: middle.flatMap((id) => [
        { from: { node: 'pause' }, to: id },
        { from: { node: id, ...(id === 'gate' && { port: 'approved' }) }, to: 'done' },
      ]),
      output: { $ref: 'input.n' },
    },
  })
  return { parent: parent!, child: child! }
}

/** Starts the workflow, with all its waits for people, every minute by a schedule. */
export async function schedule(base: string, key: string, { parent }: Workflows): Promise<void> {
  const response = await fetch(`${base}/api/workflows/${parent}/schedule`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ cron: '* * * * *', timezone: 'UTC', input: { n: 0 } }),
  })
  if (!response.ok) throw new Error(await response.text())
}

export function startPeopleLoad(options: {
  /** The current address of the service. */
  base(): string
  key: string
  workflows: Workflows
  callers: number
  restMs: number
  seed: string
  /** Returns the number of executions that have not ended. */
  underWay(): Promise<number>
}): PeopleLoad {
  const load = { started: [] as string[], votes: 0, answers: 0, wrong: [] as string[] }
  const refused = { unavailable: 0, unreachable: 0 }
  let next = 0
  let starting = true
  let over = false
  let lastAcknowledgedAt = performance.now()
  const acknowledged = (): void => {
    lastAcknowledgedAt = performance.now()
  }

  /** Sends a request until it gets a response. Undefined if the load has ended in the meantime. */
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<{ status: number; text: string } | undefined> => {
    while (!over) {
      try {
        const response = await fetch(options.base() + path, {
          method,
          headers: {
            authorization: `Bearer ${options.key}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(key !== undefined && { 'idempotency-key': key }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(ANSWER_WITHIN),
        })
        const text = await response.text()
        if (response.status !== 503) return { status: response.status, text }
        if (!response.headers.has('retry-after')) load.wrong.push(`503 without Retry-After: ${text}`)
        refused.unavailable += 1
      } catch {
        refused.unreachable += 1
      }
      await delay(AGAIN_MS)
    }
    return undefined
  }

  let underWay = 0
  const counting = async (): Promise<void> => {
    while (starting) {
      underWay = await options.underWay()
      await delay(COUNT_EVERY)
    }
  }

  const caller = async (): Promise<void> => {
    while (starting) {
      if (underWay > MAX_UNDER_WAY) {
        await delay(AGAIN_MS)
        continue
      }
      next += 1
      const path = `/api/workflows/${options.workflows.parent}/run`
      const answer = await call('POST', path, { input: { n: next } }, `${options.seed}-${next}`)
      if (answer?.status === 202) {
        load.started.push(fromWire('exe', JSON.parse(answer.text).execution_id)!)
        acknowledged()
      } else if (answer) load.wrong.push(`start: ${answer.status} ${answer.text}`)
      await delay(options.restMs)
    }
  }

  type Item = { request_id?: string; payload_sha256?: string; execution_id: string; clarification_id?: string }

  const inbox = async (path: string, settle: (item: Item) => Promise<void>): Promise<void> => {
    while (!over) {
      const answer = await call('GET', `${path}?limit=200`)
      if (answer && answer.status !== 200) load.wrong.push(`${path}: ${answer.status} ${answer.text}`)
      const { items } = (answer?.status === 200 ? JSON.parse(answer.text) : { items: [] }) as { items: Item[] }
      await Promise.all(items.slice(0, 20).map(settle))
      await delay(AGAIN_MS)
    }
  }
  const vote = async ({ request_id, payload_sha256 }: Item): Promise<void> => {
    const answer = await call('POST', `/api/approvals/${request_id}/votes`, { decision: 'approve', payload_sha256 })
    if (answer?.status === 201) {
      load.votes += 1
      acknowledged()
    }
    // 409 means that an earlier request, whose response was lost, has already voted.
    else if (answer && answer.status !== 409) load.wrong.push(`vote: ${answer.status} ${answer.text}`)
  }
  const respond = async ({ execution_id, clarification_id }: Item): Promise<void> => {
    const path = `/api/workflows/executions/${execution_id}/respond`
    const answer = await call('POST', path, { clarification_id, response: 'yes' })
    if (answer?.status === 202) {
      load.answers += 1
      acknowledged()
    } else if (answer && answer.status !== 409) load.wrong.push(`answer: ${answer.status} ${answer.text}`)
  }

  const callers = [counting(), ...Array.from({ length: options.callers }, caller)]
  const people = [inbox('/api/approvals/inbox', vote), inbox('/api/clarifications/inbox', respond)]
  return {
    ...load,
    get votes() {
      return load.votes
    },
    get answers() {
      return load.answers
    },
    refused,
    lastAcknowledgedAt: () => lastAcknowledgedAt,
    startNoMore: async () => {
      starting = false
      await Promise.all(callers)
    },
    finish: async () => {
      starting = false
      over = true
      await Promise.all([...callers, ...people])
    },
  }
}
