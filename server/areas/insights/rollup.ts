import type { FinishedRun } from '#engine/ports'
import { DAY, HOUR, MINUTE, SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { bucketOf } from './buckets.ts'

// Runs are added up in memory as they end and written once a second, many workspaces in one statement: the engine's own statements
// carry nothing of it. A process that is killed takes the figures of its last second along; the runs themselves are all there.

const FLUSH_EVERY = 1 * SECOND
const MAX_STEPS = 200
const MAX_CODE = 100
/** Unwritten rows, while the database does not take them; beyond it figures are lost rather than memory. */
const MAX_ROWS = 100_000

type Count = {
  workspace_id: string
  /** Five minutes, an hour or a day of a workflow; in capitals, of the whole workspace. */
  span: 'm' | 'h' | 'd' | 'H' | 'D'
  at: number
  workflow_id: string | null
  trigger_kind: string
  status: string
  error_code: string | null
  runs: number
  duration_ms: number
}
type Time = Pick<Count, 'workspace_id' | 'span' | 'at' | 'workflow_id' | 'runs'> & {
  measure: 'duration' | 'people' | 'job_duration' | 'job_people'
  bucket: number
}
type StepRow = Pick<Count, 'workspace_id' | 'at' | 'runs' | 'duration_ms'> & {
  workflow_id: string
  node_id: string
  type: string
  of_jobs: boolean
  failed: number
  max_ms: number
}

const PEOPLE = new Set(['approval', 'clarification'])

/** How long it waited for people; undefined where it asked nobody. Two gates that are open at once count once. */
export function waitedForPeople({ nodes, finishedAt }: Pick<FinishedRun, 'nodes' | 'finishedAt'>): number | undefined {
  const waits = nodes
    .filter(({ type, startedAt }) => PEOPLE.has(type) && startedAt !== null)
    .map((node): [from: number, to: number] => [node.startedAt as number, node.finishedAt ?? finishedAt])
    .sort(([a], [b]) => a - b)
  if (waits.length === 0) return undefined
  let waited = 0
  let until = Number.NEGATIVE_INFINITY
  for (const [from, to] of waits) {
    waited += Math.max(0, to - Math.max(from, until))
    until = Math.max(until, to)
  }
  return waited
}

/** Trials and runs of suites are no work of the workflow. */
const isCounted = ({ trigger }: FinishedRun): boolean =>
  trigger.kind !== 'trial' && !(trigger.kind === 'job' && trigger.id?.startsWith('suite_'))

/** A workflow may fail with any text as its code. One that the database cannot store would take everybody's figures along. */
export const codeOf = (code: string): string =>
  String(code)
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, MAX_CODE)
    .toWellFormed()

/** The rows of one table that are not written yet, by their key. */
class Rows<Row> {
  private rows = new Map<string, Row>()
  add(key: string, make: () => Row, more: (row: Row) => void): void {
    let row = this.rows.get(key)
    if (row === undefined) {
      if (this.rows.size >= MAX_ROWS) return
      row = make()
      this.rows.set(key, row)
    }
    more(row)
  }
  get size(): number {
    return this.rows.size
  }
  take(): Row[] {
    const taken = [...this.rows.values()]
    this.rows = new Map()
    return taken
  }
}

export function makeRunFigures({ db, log }: { db: Database; log: Logger }) {
  const counts = new Rows<Count>()
  const times = new Rows<Time>()
  const steps = new Rows<StepRow>()
  let writing: Promise<void> = Promise.resolve()
  /** Sent again as it is: what became of it is not known only where the connection broke, and then it is given up. */
  let unsent: { counts: Count[]; times: Time[]; steps: StepRow[] } | undefined

  function addTime(base: Omit<Time, 'measure' | 'bucket' | 'runs'>, measure: Time['measure'], ms: number): void {
    const bucket = bucketOf(ms)
    times.add(
      `${base.workspace_id} ${base.span} ${base.at} ${base.workflow_id} ${measure} ${bucket}`,
      () => ({ ...base, measure, bucket, runs: 0 }),
      (row) => {
        row.runs += 1
      },
    )
  }

  /** Runs for records of jobs have measures of their own: they would crowd out all others. */
  function addTimes(
    base: Omit<Time, 'measure' | 'bucket' | 'runs'>,
    run: FinishedRun,
    ms: number,
    waited?: number,
  ): void {
    const ofJob = run.trigger.kind === 'job'
    addTime(base, ofJob ? 'job_duration' : 'duration', ms)
    if (waited !== undefined) addTime(base, ofJob ? 'job_people' : 'people', waited)
  }

  function addSteps(run: FinishedRun, workflow_id: string, at: number): void {
    const ofJobs = run.trigger.kind === 'job'
    for (const node of run.nodes.slice(0, MAX_STEPS)) {
      if (node.startedAt === null) continue
      const ms = Math.max(0, (node.finishedAt ?? run.finishedAt) - node.startedAt)
      steps.add(
        `${run.workspaceId} ${at} ${workflow_id} ${ofJobs} ${node.type} ${node.id}`,
        () => ({
          workspace_id: run.workspaceId,
          at,
          workflow_id,
          node_id: node.id,
          type: node.type,
          of_jobs: ofJobs,
          runs: 0,
          failed: 0,
          duration_ms: 0,
          max_ms: 0,
        }),
        (row) => {
          row.runs += 1
          row.duration_ms += Math.round(ms)
          row.max_ms = Math.max(row.max_ms, Math.round(ms))
          if (node.status === 'failed') row.failed += 1
        },
      )
    }
  }

  /** The same for the workspace, whichever workflow, trigger and error; those for records of jobs apart. */
  function noteInWhole(run: FinishedRun, span: 'H' | 'D', at: number, ms: number, waited: number | undefined): void {
    const base = { workspace_id: run.workspaceId, span, at, workflow_id: null }
    const trigger_kind = run.trigger.kind === 'job' ? 'job' : ''
    counts.add(
      `${run.workspaceId} ${span} ${at} ${trigger_kind} ${run.status}`,
      () => ({ ...base, trigger_kind, status: run.status, error_code: null, runs: 0, duration_ms: 0 }),
      (row) => {
        row.runs += 1
        row.duration_ms += Math.round(ms)
      },
    )
    addTimes(base, run, ms, waited)
  }

  function note(run: FinishedRun): void {
    if (!isCounted(run)) return
    const ms = Math.max(0, run.finishedAt - run.startedAt)
    const waited = waitedForPeople(run)
    const code = run.error ? codeOf(run.error.code) : null
    for (const [span, length] of SPANS) {
      const at = Math.floor(run.finishedAt / length) * length
      const base = { workspace_id: run.workspaceId, span, at, workflow_id: run.workflowId }
      counts.add(
        `${run.workspaceId} ${span} ${at} ${run.workflowId} ${run.trigger.kind} ${run.status} ${code}`,
        () => ({
          ...base,
          trigger_kind: run.trigger.kind,
          status: run.status,
          error_code: code,
          runs: 0,
          duration_ms: 0,
        }),
        (row) => {
          row.runs += 1
          row.duration_ms += Math.round(ms)
        },
      )
      addTimes(base, run, ms, waited)
      if (span !== 'm') noteInWhole(run, span === 'h' ? 'H' : 'D', at, ms, waited)
    }
    if (run.workflowId !== null) addSteps(run, run.workflowId, Math.floor(run.finishedAt / DAY) * DAY)
  }

  async function write(): Promise<void> {
    if (!unsent) {
      if (counts.size === 0) return
      unsent = { counts: counts.take(), times: times.take(), steps: steps.take() }
    }
    try {
      await db.appPool.query('select add_run_figures($1, $2, $3)', [
        JSON.stringify(unsent.counts),
        JSON.stringify(unsent.times),
        JSON.stringify(unsent.steps),
      ])
      unsent = undefined
    } catch (error) {
      const { code } = error as { code?: string }
      log.debug({ err: error }, 'figures of runs were not written')
      // An answer of the database says that nothing was written, and what is busy may be free the next time. Figures that may
      // have been written are not written twice.
      if (code === undefined || !/^(40|53|55|57)/.test(code)) unsent = undefined
    }
  }
  const flush = (): Promise<void> => {
    writing = writing.then(write)
    return writing
  }
  const timer = setInterval(() => void flush(), FLUSH_EVERY)
  timer.unref()

  return {
    note,
    flush,
    async stop(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}

const SPANS = [
  ['m', 5 * MINUTE],
  ['h', HOUR],
  ['d', DAY],
] as const

const HOURS_KEPT_DAYS = 35
const DAYS_KEPT = 800

export async function forgetRunFigures(db: Database, atOnce = 10_000): Promise<void> {
  for (let forgotten = atOnce; forgotten === atOnce; )
    forgotten = (
      await db.maintain<{ forgotten: number }>('select forget_run_figures($1, $2, $3) as forgotten', [
        HOURS_KEPT_DAYS,
        DAYS_KEPT,
        atOnce,
      ])
    )[0]!.forgotten
}
