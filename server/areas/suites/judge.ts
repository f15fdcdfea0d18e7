import type { Done, OutcomeReader } from '#areas/jobs/ledger/output'
import { readDone } from '#areas/jobs/ledger/output'
import { type Lease, LeaseLost, moveRun, type Run } from '#areas/jobs/ledger/runs'
import type { AgentReview } from '#engine/agents/review'
import { canonicalText } from '#model/canonical'
import type { Json, JsonObject } from '#model/definition'
import { evaluateConditionOver, resolveValue } from '#model/expressions'
import { isObject, own } from '#model/json'
import { toWire } from '#platform/ids'
import type { RecordPeople } from './recording.ts'
import { type CaseAnswers, forgetAnswers, readAnswers } from './recording-store.ts'
import type { Check } from './schema.ts'
import * as store from './store.ts'

// Compares expected and actual results, record by record, after all executions have ended.

/** Lets an agent judge one record. It never passes a record unless the agent clearly approves it. */
export type JudgeByAgent = (request: {
  workspaceId: string
  title: string
  payload: Json
  instructions: string
  model: string | null
}) => Promise<Pick<AgentReview, 'decision' | 'rationale'>>

/** `score` is the fraction that is correct, if it is neither 0 nor 1. */
type Verdict = { kind: string; passed: boolean | null; score?: number; message?: string }

const scopeOf = (record: JsonObject) => ({ input: null, nodes: {}, execution: {}, record })
const clip = (value: Json): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
const field = (value: Json, name: string): Json => (isObject(value) ? (own(value, name) ?? null) : null)

function checkEqual(check: Extract<Check, { kind: 'equal' }>, { record, result }: Done): Verdict {
  const expected = resolveValue((check.expected ?? null) as Json, scopeOf(record))
  const differ = (a: Json, b: Json): boolean => canonicalText(a) !== canonicalText(b)
  if (check.fields === undefined) {
    if (!differ(expected, result)) return { kind: 'equal', passed: true }
    return { kind: 'equal', passed: false, message: `expected ${clip(expected)}, got ${clip(result)}` }
  }
  const wrong = check.fields.filter((name) => differ(field(expected, name), field(result, name)))
  if (wrong.length === 0) return { kind: 'equal', passed: true }
  const told = wrong.map((name) => `${name}: expected ${clip(field(expected, name))}, got ${clip(field(result, name))}`)
  const score = 1 - wrong.length / check.fields.length
  return { kind: 'equal', passed: false, score, message: told.join('; ').slice(0, 2000) }
}

function checkCel(check: Extract<Check, { kind: 'cel' }>, { record, result }: Done): Verdict {
  const passed = evaluateConditionOver(check.expression, { record, results: result })
  return passed ? { kind: 'cel', passed } : { kind: 'cel', passed, message: `${check.expression} is false` }
}

async function checkOne(workspaceId: string, check: Check, done: Done, judge: JudgeByAgent): Promise<Verdict> {
  try {
    if (check.kind === 'equal') return checkEqual(check, done)
    if (check.kind === 'cel') return checkCel(check, done)
    const expected = resolveValue((check.expected ?? null) as Json, scopeOf(done.record))
    const { decision, rationale } = await judge({
      workspaceId,
      title: 'Is this result what the record asks for?',
      payload: { record: done.record, expected, actual: done.result },
      instructions: check.instructions,
      model: check.model ?? null,
    })
    return { kind: 'judge', passed: decision === 'abstain' ? null : decision === 'approve', message: rationale }
  } catch (error) {
    return { kind: check.kind, passed: false, message: (error as Error).message.slice(0, 500) }
  }
}

async function judgeRecord(
  workspaceId: string,
  checks: Check[],
  done: Done,
  judge: JudgeByAgent,
): Promise<Omit<store.Judged, 'recorded' | 'mocked'>> {
  const { position } = done
  if (done.status !== 'succeeded') {
    const { code, message } = done.error as { code: string; message: string }
    const verdict = { kind: 'execution', passed: false, message: `${code}: ${message}` }
    return { position, outcome: 'error', score: 0, actual: null, checks: [verdict] }
  }
  const verdicts: Verdict[] = []
  for (const check of checks) verdicts.push(await checkOne(workspaceId, check, done, judge))
  const outcome = verdicts.some(({ passed }) => passed === false)
    ? 'failed'
    : verdicts.some(({ passed }) => passed === null)
      ? 'unjudged'
      : 'passed'
  return { position, outcome, score: scoreOf(verdicts), actual: done.result, checks: verdicts as unknown as Json }
}

function scoreOf(verdicts: Verdict[]): number | null {
  const scores = verdicts.flatMap(({ passed, score }) => (passed === null ? [] : [score ?? (passed ? 1 : 0)]))
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length
}

/** Returns how the effects of a case were answered from recordings. */
const recordedOf = (answers: CaseAnswers | undefined): Json => ({
  answers: answers?.answered ?? 0,
  usage: answers?.usage ?? {},
  duration_ms: answers?.duration_ms ?? 0,
})

const JUDGED_AT_ONCE = 20

/**
 * Writes the report of a run, a few records at a time. A process that takes over continues where the previous one
 * stopped.
 */
export const makeConcludeSuite =
  ({ reader, judge, recordPeople }: { reader: OutcomeReader; judge: JudgeByAgent; recordPeople: RecordPeople }) =>
  async (run: Run, lease: Lease, versionId: string): Promise<null> => {
    const { workspace_id: workspaceId, run_id } = run
    const scope = { workspaceId, userId: null }
    const { suite, written, effects } = await reader.db.tenant(scope, async (tx) => ({
      suite: await store.findSuite(tx, workspaceId, run.suite_id!),
      written: await store.countOutcomes(tx, workspaceId, run_id),
      effects: await store.findEffects(tx, workspaceId, run_id),
    }))
    if (!suite) throw new LeaseLost(`the suite ${toWire('suite', run.suite_id!)} is gone`)
    const checks = suite.checks as unknown as Check[]
    for await (const page of readDone(reader, run, versionId)) {
      const left = page.filter(({ position }) => position >= written)
      for (let at = 0; at < left.length; at += JUDGED_AT_ONCE) {
        const judged = await Promise.all(
          left.slice(at, at + JUDGED_AT_ONCE).map((done) => judgeRecord(workspaceId, checks, done, judge)),
        )
        const executions = left.slice(at, at + JUDGED_AT_ONCE).map(({ execution_id }) => execution_id)
        const ids = executions.filter((id) => id !== null)
        if (effects === 'live') await recordPeople(workspaceId, suite.suite_id, ids)
        await reader.db.tenant(scope, async (tx) => {
          await moveRun(tx, run, lease, {})
          const answers = new Map((await readAnswers(tx, workspaceId, ids)).map((one) => [one.execution_id, one]))
          const outcomes = judged.map((one, nth) => {
            const its = answers.get(executions[nth] ?? '')
            return {
              ...one,
              recorded: effects === 'live' ? null : recordedOf(its),
              mocked: (its?.mocked ?? []) as Json,
            }
          })
          await store.putOutcomes(tx, workspaceId, run_id, outcomes)
          await forgetAnswers(tx, workspaceId, suite.suite_id, ids)
        })
      }
    }
    return null
  }
