import type { Engine, Initiator, StartTarget } from '#engine/ports'
import type { Definition, Json, JsonObject } from '#model/definition'
import { SECOND } from '#platform/clock'
import { isProblem } from '#platform/errors'
import { toWire } from '#platform/ids'
import { prepareInput } from '../recipe.ts'
import { executionIdOf } from './ids.ts'
import type { Claimed, Over, Refused } from './records.ts'
import type { RunError } from './run-error.ts'
import type { Run } from './runs.ts'
import { DEFAULT_RETRY, failNodesOf, type Retry, type Verdict, verdictOf } from './verdict.ts'

// The executions of a run in memory: claimed and waiting for a free slot, started, and ended but not yet in the ledger.

/** What a run executes, in the form that the engine needs. */
export type Target = { start: StartTarget; definition: Definition; initiators: Initiator[] }

export type Attempt = Claimed & { executionId: string }
export type EndedAttempt = Attempt & { verdict: Verdict }

export type AttemptOptions = {
  engine: Pick<Engine, 'start'>
  /** Counts executions against the plan. Throws `quota_exceeded`. */
  countRuns(workspaceId: string, count: number): Promise<void>
}

export const START_AGAIN_AFTER = SECOND / 4

/** The retry settings of runs that an older release started, and of suites. */
const legacyRetry = ({ max_attempts }: Run): Retry => ({ ...DEFAULT_RETRY, max_attempts })

export function makeAttempts({ engine, countRuns }: AttemptOptions, run: Run, target: Target) {
  const { workspace_id: workspaceId } = run
  const inputs = (target.definition.inputs ?? true) as Json
  const trigger = {
    kind: 'job' as const,
    id: run.job_id === null ? toWire('suite', run.suite_id!) : toWire('job', run.job_id),
  }
  const waiting: Claimed[] = []
  /** Records whose start was refused temporarily. They are already counted against the plan. */
  let resent: Claimed[] = []
  const inFlight = new Map<string, Attempt>()
  const starting = new Set<Promise<void>>()
  let over: EndedAttempt[] = []
  let refused: Omit<Refused, 'text'>[] = []
  const judgedBy = { retry: run.retry ?? legacyRetry(run), failNodes: failNodesOf(target.definition) }
  let startAgainAt = 0
  let broken: unknown
  let { flow } = target.start

  /**
   * Returns how many of the wanted executions the plan still allows. A quota is used up completely before a run ends
   * because of it.
   */
  async function allowed(wanted: number): Promise<{ count: number; refusal?: RunError }> {
    for (let count = wanted; ; count >>= 1) {
      try {
        if (count > 0) await countRuns(workspaceId, count)
        return { count }
      } catch (error) {
        if (!isProblem(error, 'quota_exceeded')) throw error
        if (count === 1) return { count: 0, refusal: { code: error.code, message: error.message } }
      }
    }
  }

  function start(claim: Claimed, input: JsonObject): void {
    const executionId = executionIdOf(run.run_id, claim.position, claim.attempt)
    inFlight.set(executionId, { ...claim, executionId })
    const started = engine
      .start({
        ...target.start,
        flow,
        executionId,
        workspaceId,
        input,
        trigger,
        startedBy: run.requested_by,
        initiatedBy: target.initiators,
      })
      .then(
        () => {},
        (error: unknown) => {
          inFlight.delete(executionId)
          if (isProblem(error, 'malformed'))
            refused.push({ ...claim, error: { code: error.code, message: error.message } })
          else if (isProblem(error)) {
            resent.push(claim)
            startAgainAt = performance.now() + START_AGAIN_AFTER
          } else broken = error
        },
      )
      .finally(() => starting.delete(started))
    starting.add(started)
  }

  function noteEnd(executionId: string, judge: (attempt: Attempt) => Verdict): void {
    const attempt = inFlight.get(executionId)
    if (attempt) over.push({ ...attempt, verdict: judge(attempt) })
    inFlight.delete(executionId)
  }

  return {
    claimed: (claims: Claimed[]): void => void waiting.push(...claims),
    /** Sets the rules for the next starts. People may change or pause the workflow while the run is under way. */
    useFlow: (now: StartTarget['flow']): void => {
      flow = now
    },
    waiting: (): number => waiting.length + resent.length,
    running: (): number => inFlight.size,
    isRunning: (executionId: string): boolean => inFlight.has(executionId),
    ids: (): string[] => [...inFlight.keys()],
    /** The number of records that ended or were refused and are not in the ledger yet. */
    toWrite: (): number => over.length + refused.length,
    /** The number of attempts that are not finished. */
    busy: (): number => inFlight.size + starting.size + over.length + refused.length,
    settled: (): Promise<unknown> => Promise.all(starting),

    /**
     * Starts records up to the free slots, without waiting until the starts are stored. A start that is refused
     * temporarily is repeated with the same id. Returns the reason if the plan allows no more.
     */
    async begin(textAt: (position: number) => Promise<string>, atMost: number): Promise<RunError | undefined> {
      if (broken !== undefined) throw broken
      if (performance.now() < startAgainAt) return undefined
      const room = Math.max(0, Math.min(run.concurrency - inFlight.size, atMost))
      const again = resent.slice(0, room)
      resent = resent.slice(room)
      const { count, refusal } = await allowed(Math.min(waiting.length, room - again.length))
      for (const claim of [...again, ...waiting.splice(0, count)]) {
        const record = JSON.parse(await textAt(claim.position)) as JsonObject
        const prepared = prepareInput(run.mapping, inputs, record)
        if (prepared.ok) start(claim, prepared.input)
        else refused.push({ ...claim, error: prepared.error })
      }
      return refusal
    },

    noteSucceeded(executionId: string): void {
      noteEnd(executionId, () => ({ status: 'succeeded' }))
    },

    noteEnded(ended: Over[]): void {
      for (const ending of ended) noteEnd(ending.execution_id, ({ attempt }) => verdictOf(ending, attempt, judgedBy))
    },

    /** Hands the ended attempts over to be written. If the write fails, the run is resumed from its rows. */
    takeEnded(): { ended: EndedAttempt[]; failing: Omit<Refused, 'text'>[] } {
      const taken = { ended: over, failing: refused }
      over = []
      refused = []
      return taken
    },
  }
}
