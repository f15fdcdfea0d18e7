import type { Tx } from '#platform/db/pool'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { toWire } from '#platform/ids'

// What a workflow requires of a version before activation: a suite that passes, and past executions that would have had
// the same result.

export type ActivationRule = {
  suite_id?: string | undefined
  min_score?: number | undefined
  replay?: { limit: number; max_different: number } | undefined
}

type Version = { workspaceId: string; workflowId: string; versionId: string }

/** Facts about a version, from the areas of suites and replays. */
export type Proofs = {
  /** The last finished run of the suite on this version. The score is null if the run failed. */
  suite(tx: Tx, of: Version & { suiteId: string }): Promise<{ run_id: string; score: number | null } | undefined>
  hasSuite(tx: Tx, of: Omit<Version, 'versionId'> & { suiteId: string }): Promise<boolean>
  /** The last finished replay of this version without a filter that requested at least this number of executions. */
  replay(
    tx: Tx,
    of: Version & { limit: number },
  ): Promise<{ replay_id: string; total: number; different: number; unreplayable: number } | undefined>
  /** Whether there are past executions with which a version can be compared. */
  hasRuns(tx: Tx, of: Omit<Version, 'versionId'>): Promise<boolean>
}

type Finding = { report: object; message: string | null }

const percent = (part: number): string => `${Math.round(part * 100)} %`

async function askSuite(proofs: Proofs, tx: Tx, of: Version, rule: ActivationRule): Promise<Finding | undefined> {
  if (rule.suite_id === undefined) return undefined
  const { suite_id: suiteId, min_score = 1 } = rule
  const found = await proofs.suite(tx, { ...of, suiteId })
  const report = {
    suite_id: toWire('suite', suiteId),
    run_id: found ? toWire('run', found.run_id) : null,
    score: found?.score ?? null,
    min_score,
  }
  if (!found) return { report, message: 'Run the suite on this version first.' }
  if (found.score === null) return { report, message: 'The suite did not run to its end on this version.' }
  const isGood = found.score >= min_score
  return {
    report,
    message: isGood ? null : `The suite passed ${percent(found.score)}, but ${percent(min_score)} is required.`,
  }
}

async function askReplay(proofs: Proofs, tx: Tx, of: Version, rule: ActivationRule): Promise<Finding | undefined> {
  if (!rule.replay) return undefined
  const { limit, max_different } = rule.replay
  const found = await proofs.replay(tx, { ...of, limit })
  // A workflow that never ran has no past execution that could differ.
  if (!found && !(await proofs.hasRuns(tx, of))) return undefined
  const report = { ...(found && { ...found, replay_id: toWire('rpl', found.replay_id) }), limit, max_different }
  if (!found)
    return { report: { ...report, replay_id: null }, message: `Replay this version over ${limit} past runs first.` }
  const isGood = found.different <= max_different
  return {
    report,
    message: isGood
      ? null
      : `${found.different} past runs would be different, but at most ${max_different} are allowed.`,
  }
}

/** Throws 409 if the version does not fulfil the requirements of the workflow. */
export async function requireProof(
  proofs: Proofs,
  ctx: Context,
  rule: ActivationRule | undefined,
  { workflowId, versionId }: { workflowId: string; versionId: string },
): Promise<void> {
  if (!rule) return
  const of = { workspaceId: ctx.workspace.workspace_id, workflowId, versionId }
  const suite = await askSuite(proofs, ctx.tx, of, rule)
  const replay = await askReplay(proofs, ctx.tx, of, rule)
  const messages = [suite?.message, replay?.message].filter((message) => message != null)
  if (messages.length === 0) return
  throw problem('activation_blocked', messages.join(' '), {
    report: { ...(suite && { suite: suite.report }), ...(replay && { replay: replay.report }) },
  })
}
