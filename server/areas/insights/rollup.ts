import type { FinishedRun } from '#engine/finished-run'
import { DAY, HOUR, MINUTE, SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { writePeriodically } from '#platform/periodic-write'
import { bucketOf } from './buckets.ts'

// Ended executions are added up in memory and written once a second, many workspaces in one statement. The engine's own
// statements are not affected. If a process is killed, the figures of its last second are lost; the executions
// themselves are complete.

const FLUSH_EVERY = 1 * SECOND
const MAX_STEPS = 200
const MAX_CODE = 100
/**
 * The maximum number of unwritten groups, while the database is unavailable. Beyond it, figures are lost to limit
 * memory.
 */
const MAX_GROUPS = 20_000
const MAX_STEP_ROWS = 100_000
const FIVE_MINUTES = 5 * MINUTE

type Count = {
  workspace_id: string
  /** Five minutes, an hour or a day of a workflow. Capitals are for the whole workspace. */
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

/**
 * Returns the time that an execution waited for people. Undefined if it had no gate or question. Two gates that are
 * open at once count once.
 */
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

/** Trials and executions of suites do not count as work of the workflow. */
const isCounted = ({ trigger }: FinishedRun): boolean =>
  trigger.kind !== 'trial' && !(trigger.kind === 'job' && trigger.id?.startsWith('suite_'))

/**
 * A workflow may fail with any text as its code. A code that the database cannot store would lose the figures of all
 * workspaces in the statement.
 */
export const codeOf = (code: string): string =>
  String(code)
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, MAX_CODE)
    .toWellFormed()

/** The rows of one table by their key. */
class Rows<Row> {
  private rows = new Map<string, Row>()
  add(key: string, make: () => Row, more: (row: Row) => void): void {
    let row = this.rows.get(key)
    if (row === undefined) {
      row = make()
      this.rows.set(key, row)
    }
    more(row)
  }
  all(): Row[] {
    return [...this.rows.values()]
  }
}

type StepSum = Pick<StepRow, 'node_id' | 'type' | 'runs' | 'failed' | 'duration_ms' | 'max_ms'>

/**
 * Executions that ended in the same five minutes with the same outcome. They become rows only when they are written.
 */
type Group = Pick<Count, 'workspace_id' | 'at' | 'workflow_id' | 'trigger_kind' | 'status' | 'error_code'> & {
  runs: number
  duration_ms: number
  /** The number of executions by the bucket of their duration, and by the bucket of their wait for people. */
  durations: Map<number, number>
  people: Map<number, number>
  steps: Map<string, StepSum>
}

const bump = (buckets: Map<number, number>, ms: number): void => {
  const bucket = bucketOf(ms)
  buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1)
}

const newGroup = (run: FinishedRun, at: number, code: string | null): Group => ({
  workspace_id: run.workspaceId,
  at,
  workflow_id: run.workflowId,
  trigger_kind: run.trigger.kind,
  status: run.status,
  error_code: code,
  runs: 0,
  duration_ms: 0,
  durations: new Map(),
  people: new Map(),
  steps: new Map(),
})

/** `steps`: the remaining number of steps that may be stored. */
type Room = { steps: number }

function stepOf({ steps }: Group, node: FinishedRun['nodes'][number], room: Room): StepSum | undefined {
  let key = node.id
  // The node has another type in another version.
  if ((steps.get(key)?.type ?? node.type) !== node.type) key = `${node.type} ${node.id}`
  let sum = steps.get(key)
  if (sum === undefined && room.steps > 0) {
    room.steps -= 1
    sum = { node_id: node.id, type: node.type, runs: 0, failed: 0, duration_ms: 0, max_ms: 0 }
    steps.set(key, sum)
  }
  return sum
}

function addSteps(group: Group, run: FinishedRun, room: Room): void {
  const { nodes } = run
  for (let i = 0; i < nodes.length && i < MAX_STEPS; i += 1) {
    const node = nodes[i]!
    if (node.startedAt === null) continue
    const ms = Math.round(Math.max(0, (node.finishedAt ?? run.finishedAt) - node.startedAt))
    const sum = stepOf(group, node, room)
    if (!sum) continue
    sum.runs += 1
    sum.duration_ms += ms
    if (ms > sum.max_ms) sum.max_ms = ms
    if (node.status === 'failed') sum.failed += 1
  }
}

type Unsent = { counts: Count[]; times: Time[]; steps: StepRow[] }

/**
 * A group counts in its five minutes, hour and day. It also counts in the hour and day of the workspace, for all
 * workflows, triggers and errors.
 */
function rowsOf(groups: Iterable<Group>): Unsent {
  const counts = new Rows<Count>()
  const times = new Rows<Time>()
  const steps = new Rows<StepRow>()

  const addCount = (group: Group, row: Omit<Count, 'runs' | 'duration_ms'>): void =>
    counts.add(
      `${row.workspace_id} ${row.span} ${row.at} ${row.workflow_id} ${row.trigger_kind} ${row.status} ${row.error_code}`,
      () => ({ ...row, runs: 0, duration_ms: 0 }),
      (sum) => {
        sum.runs += group.runs
        sum.duration_ms += group.duration_ms
      },
    )
  const addTimes = (
    buckets: Map<number, number>,
    measure: Time['measure'],
    { workspace_id, span, at, workflow_id }: Pick<Count, 'workspace_id' | 'span' | 'at' | 'workflow_id'>,
  ): void => {
    for (const [bucket, runs] of buckets)
      times.add(
        `${workspace_id} ${span} ${at} ${workflow_id} ${measure} ${bucket}`,
        () => ({ workspace_id, span, at, workflow_id, measure, bucket, runs: 0 }),
        (sum) => {
          sum.runs += runs
        },
      )
  }
  /** Executions of jobs have separate measures, because their number would hide all others. */
  const addBoth = (group: Group, row: Omit<Count, 'runs' | 'duration_ms'>): void => {
    const ofJobs = group.trigger_kind === 'job'
    addCount(group, row)
    addTimes(group.durations, ofJobs ? 'job_duration' : 'duration', row)
    addTimes(group.people, ofJobs ? 'job_people' : 'people', row)
  }

  for (const group of groups) {
    const { workspace_id, workflow_id, trigger_kind, status, error_code } = group
    const ofJobs = trigger_kind === 'job'
    for (const [span, length] of SPANS) {
      const at = Math.floor(group.at / length) * length
      addBoth(group, { workspace_id, span, at, workflow_id, trigger_kind, status, error_code })
      if (span === 'm') continue
      const whole = { workflow_id: null, trigger_kind: ofJobs ? 'job' : '', error_code: null }
      addBoth(group, { workspace_id, span: span === 'h' ? 'H' : 'D', at, status, ...whole })
    }
    if (workflow_id === null) continue
    const at = Math.floor(group.at / DAY) * DAY
    for (const { node_id, type, ...sums } of group.steps.values())
      steps.add(
        `${workspace_id} ${at} ${workflow_id} ${ofJobs} ${type} ${node_id}`,
        () => ({
          workspace_id,
          at,
          workflow_id,
          node_id,
          type,
          of_jobs: ofJobs,
          runs: 0,
          failed: 0,
          duration_ms: 0,
          max_ms: 0,
        }),
        (row) => {
          row.runs += sums.runs
          row.failed += sums.failed
          row.duration_ms += sums.duration_ms
          row.max_ms = Math.max(row.max_ms, sums.max_ms)
        },
      )
  }
  return { counts: counts.all(), times: times.all(), steps: steps.all() }
}

export function makeRunFigures({ db, log }: { db: Database; log: Logger }) {
  let groups = new Map<string, Group>()
  let room: Room = { steps: MAX_STEP_ROWS }
  /**
   * Sent again unchanged after a failure. If the connection broke, it is unknown whether it was written, so it is
   * dropped.
   */
  let unsent: Unsent | undefined

  function groupOf(run: FinishedRun): Group | undefined {
    const at = Math.floor(run.finishedAt / FIVE_MINUTES) * FIVE_MINUTES
    const code = run.error ? codeOf(run.error.code) : null
    const key = `${run.workspaceId} ${run.workflowId} ${at} ${run.trigger.kind} ${run.status} ${code}`
    let group = groups.get(key)
    if (group === undefined && groups.size < MAX_GROUPS) {
      group = newGroup(run, at, code)
      groups.set(key, group)
    }
    return group
  }

  function note(run: FinishedRun): void {
    if (!isCounted(run)) return
    const group = groupOf(run)
    if (!group) return
    const ms = Math.max(0, run.finishedAt - run.startedAt)
    group.runs += 1
    group.duration_ms += Math.round(ms)
    bump(group.durations, ms)
    const waited = waitedForPeople(run)
    if (waited !== undefined) bump(group.people, waited)
    if (run.workflowId !== null) addSteps(group, run, room)
  }

  async function write(): Promise<void> {
    if (!unsent) {
      if (groups.size === 0) return
      unsent = rowsOf(groups.values())
      groups = new Map()
      room = { steps: MAX_STEP_ROWS }
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
      log.debug({ err: error }, 'statistics of executions could not be stored')
      // An error of these classes means that nothing was written and that a retry may succeed. In all other cases the
      // figures are dropped, because they might be written twice.
      if (code === undefined || !/^(40|53|55|57)/.test(code)) unsent = undefined
    }
  }

  return { note, ...writePeriodically(FLUSH_EVERY, write) }
}

const SPANS = [
  ['m', FIVE_MINUTES],
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
