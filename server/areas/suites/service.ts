import type { DatasetUse } from '#areas/datasets/use'
import { activationRequired } from '#areas/executions/start'
import { wakeRunners } from '#areas/jobs/events'
import { insertRun } from '#areas/jobs/ledger/runs'
import { checkMapping, legacyRecipeHash } from '#areas/jobs/recipe'
import type { Engine } from '#engine/ports'
import { listLiveOfJob } from '#engine/read'
import type { Json, JsonObject } from '#model/definition'
import { checkExpression } from '#model/expressions'
import type { Kinds } from '#model/graph'
import type { FindAccessLevel } from '#platform/access/check'
import type { Tx } from '#platform/db/pool'
import { type FieldError, invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { decodeCursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import { newId, toWire } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import type { LanguageModel } from '#providers/llm/index'
import { getSuiteCase } from './case.ts'
import { insertPlanned } from './planned.ts'
import type { Check, ListedSuite, NewSuite, RunSuite, Suite, SuitePatch, SuiteReport, SuiteRun } from './schema.ts'
import * as store from './store.ts'

type ById = { suite_id: string }
type InWorkflow = { workflow_id: string }

const CONCURRENCY = 32
const CEL_ROOTS: ReadonlySet<string> = new Set(['record', 'results'])

/** The role in a suite is the role in its workflow. Colleagues without a role in the workflow do not find the suite. */
export const makeAccessLevelInSuite =
  (accessLevelInWorkflow: FindAccessLevel): FindAccessLevel =>
  async (ctx, suiteId) => {
    if (ctx.maybeWorkspace === null) return undefined
    const suite = await store.findSuite(ctx.tx, ctx.workspace.workspace_id, suiteId)
    const standing = suite && (await accessLevelInWorkflow(ctx, suite.workflow_id))
    return standing === 'visible' ? undefined : standing
  }

/** For activation: finds the last finished run of the suite on a version. */
export const findSuiteProof = store.findProof

export const hasSuite = async (
  tx: Tx,
  { workspaceId, workflowId, suiteId }: { workspaceId: string; workflowId: string; suiteId: string },
): Promise<boolean> => (await store.findSuite(tx, workspaceId, suiteId))?.workflow_id === workflowId

export type SuitesOptions = {
  datasets: Pick<DatasetUse, 'findPointed'>
  /** Returns the model that judges: the workspace's own model, otherwise the installation's. */
  modelOf(workspaceId: string): Promise<Pick<LanguageModel, 'available'>>
  engine: Pick<Engine, 'cancel'>
  kinds(): Kinds
  /** Returns the address of the console. */
  baseUrl(): string
}

export async function getSuite(ctx: Context, { suite_id }: ById): Promise<Suite> {
  const suite = await store.findSuite(ctx.tx, ctx.workspace.workspace_id, suite_id)
  if (!suite) throw problem('not_found')
  return suite
}

async function check(
  { datasets }: SuitesOptions,
  ctx: Context,
  fields: store.SuiteFields,
  before: string | null,
): Promise<void> {
  const { workspace_id, role } = ctx.workspace
  const errors = [
    ...(fields.mapping === null ? [] : checkMapping(fields.mapping as JsonObject)),
    ...checksIn(fields.checks as unknown as Check[]),
  ]
  if (errors.length > 0) throw invalid(errors.slice(0, 50))
  const { dataset_id } = fields
  if (dataset_id === null || dataset_id === before) return
  if (role === 'guest' || !(await datasets.findPointed(ctx.tx, workspace_id, dataset_id)))
    throw unknownReference('/dataset_id')
}

async function findRun(ctx: Context, suiteId: string, runId: string): Promise<SuiteRun> {
  const run = await store.findRun(ctx.tx, ctx.workspace.workspace_id, suiteId, runId)
  if (!run) throw problem('not_found')
  return run
}

async function compare(
  { baseUrl }: SuitesOptions,
  ctx: Context,
  suiteId: string,
  run: SuiteRun,
  otherId: string,
): Promise<SuiteReport['comparison']> {
  const { workspace_id } = ctx.workspace
  const other = await store.findRun(ctx.tx, workspace_id, suiteId, otherId)
  if (!other) throw unknownReference('/compare')
  const { run_id, version_id, pass_rate, score, effects, usage, recorded_usage, duration_ms } = other
  const same_dataset = other.dataset_sha256 === run.dataset_sha256
  const { changes, ...counts } = await store.compareRuns(ctx.tx, workspace_id, run_id, run.run_id)
  const page = `/suites/${toWire('suite', suiteId)}/runs/${toWire('run', run.run_id)}/cases`
  const linked = changes.map((change) => ({
    ...change,
    case_url: `${baseUrl()}${page}/${change.position}?compare=${toWire('run', run_id)}`,
  }))
  const figures = { pass_rate, score, effects, usage, recorded_usage, duration_ms }
  return { run_id, version_id, same_dataset, ...figures, ...counts, changes: linked }
}

/** Lists the suites of all workflows in which the person has a role, each with its newest run. */
export async function searchSuites(ctx: Context, asked: ListInput) {
  const { workspace_id } = ctx.workspace
  const page = await store.searchSuites(ctx.tx, workspace_id, ctx.person.user_id, asked)
  const runIds = page.items.flatMap(({ last_run_id }) => last_run_id ?? [])
  const runs = new Map((await store.summarizeRuns(ctx.tx, workspace_id, runIds)).map((run) => [run.run_id, run]))
  const withRun = (suite: store.FoundSuite): ListedSuite => ({
    ...suite,
    last_run: runs.get(suite.last_run_id ?? '') ?? null,
  })
  return { ...page, items: page.items.map(withRun) }
}

export const listSuites = (ctx: Context, { workflow_id, ...asked }: InWorkflow & ListInput) =>
  store.listSuites(ctx.tx, ctx.workspace.workspace_id, workflow_id, asked)

export async function createSuite(
  parts: SuitesOptions,
  ctx: Context,
  { workflow_id, ...input }: InWorkflow & NewSuite,
): Promise<Suite> {
  const fields: store.SuiteFields = {
    name: input.name,
    dataset_id: input.dataset_id ?? null,
    mapping: (input.mapping ?? null) as Json,
    checks: input.checks as unknown as Json,
  }
  await check(parts, ctx, fields, null)
  const made = { suite_id: newId(), workflow_id, created_by: ctx.person.user_id }
  return store.insertSuite(ctx.tx, ctx.workspace.workspace_id, { ...made, ...fields })
}

export async function updateSuite(
  parts: SuitesOptions,
  ctx: Context,
  { suite_id, ...patch }: ById & SuitePatch,
): Promise<Suite> {
  const present = await getSuite(ctx, { suite_id })
  const fields: store.SuiteFields = {
    name: patch.name ?? present.name,
    dataset_id: patch.dataset_id === undefined ? present.dataset_id : patch.dataset_id,
    mapping: (patch.mapping === undefined ? present.mapping : patch.mapping) as Json,
    checks: (patch.checks ?? present.checks) as unknown as Json,
  }
  await check(parts, ctx, fields, present.dataset_id)
  return store.updateSuite(ctx.tx, ctx.workspace.workspace_id, suite_id, fields)
}

export async function deleteSuite({ engine }: SuitesOptions, ctx: Context, { suite_id }: ById): Promise<void> {
  const { workspace_id: workspaceId } = ctx.workspace
  for (const executionId of await listLiveOfJob(ctx.tx, workspaceId, toWire('suite', suite_id)))
    await engine.cancel(ctx.tx, { workspaceId, executionId }, toWire('usr', ctx.person.user_id))
  await store.deleteSuite(ctx.tx, workspaceId, suite_id)
}

export async function runSuite(
  parts: SuitesOptions,
  ctx: Context,
  { suite_id, version_id, effects, models }: ById & RunSuite,
): Promise<SuiteRun> {
  const { workspace_id } = ctx.workspace
  const suite = await getSuite(ctx, { suite_id })
  const dataset =
    suite.dataset_id === null ? undefined : await parts.datasets.findPointed(ctx.tx, workspace_id, suite.dataset_id)
  if (!dataset) throw problem('dataset_unbound', 'Bind a dataset to the suite first.')
  if ((suite.checks as unknown as Check[]).some(({ kind }) => kind === 'judge')) {
    const absent = (await parts.modelOf(workspace_id)).available()
    if (absent !== null) throw problem('provider_not_configured', absent)
  }
  const version = await ctx.tx.maybe<{ version_id: string; sha256: string; activation_required: boolean }>(
    `select v.version_id, v.sha256, w.activation_required from workflow_versions v
     join workflows w on w.workspace_id = v.workspace_id and w.workflow_id = v.workflow_id
     where v.workspace_id = $1 and v.workflow_id = $2 and case when $3::uuid is null then v.active else v.version_id = $3 end`,
    [workspace_id, suite.workflow_id, version_id ?? null],
  )
  if (!version) {
    if (version_id !== undefined) throw unknownReference('/version_id')
    throw problem('no_active_version', 'Activate a version of the workflow, or name one with version_id.')
  }
  if (version.activation_required) throw activationRequired()
  const mapping = suite.mapping as JsonObject | null
  const run_id = newId()
  const isLive = effects === 'live'
  const asked = isLive ? 'live' : models
  if (!isLive)
    await insertPlanned(ctx, {
      run_id,
      workflow_id: suite.workflow_id,
      version_id: version.version_id,
      effects,
      liveModels: asked === 'live',
      kinds: parts.kinds(),
    })
  // Live runs and runs without live effects must not share results.
  const recipe = isLive ? version.sha256 : `${version.sha256}:${effects}:${asked}`
  await insertRun(ctx.tx, workspace_id, {
    run_id,
    job_id: null,
    suite_id,
    is_full: true,
    recipe_sha256: legacyRecipeHash(recipe, { mapping, only_if: null }),
    recipe_format: 1,
    legacy_recipe_sha256: null,
    key_column: null,
    mapping,
    only_if: null,
    definition_ref: isLive ? `version:${version.version_id}` : `trial:${run_id}`,
    workflow_id: suite.workflow_id,
    version_id: version.version_id,
    concurrency: CONCURRENCY,
    max_attempts: 1,
    retry: null,
    max_cost: null,
    max_tokens: null,
    retry_failed: false,
    sample: null,
    columns: null,
    cursor_from: null,
    stop_on_error_rate: null,
    dataset_id: dataset.dataset_id,
    source_id: null,
    dataset_sha256: dataset.sha256,
    total: dataset.record_count,
    requested_by: ctx.person.user_id,
  })
  await store.noteRun(ctx.tx, workspace_id, suite_id, { run_id, effects, models: asked })
  await wakeRunners(ctx.tx)
  return findRun(ctx, suite_id, run_id)
}

export const listSuiteRuns = (ctx: Context, { suite_id, ...asked }: ById & ListInput) =>
  store.listRuns(ctx.tx, ctx.workspace.workspace_id, suite_id, asked)

export async function getSuiteRun(
  parts: SuitesOptions,
  ctx: Context,
  input: ById & { run_id: string } & ListQuery & { compare?: string | undefined; outcome?: string | undefined },
): Promise<SuiteReport> {
  const run = await findRun(ctx, input.suite_id, input.run_id)
  const key = decodeCursor(input.cursor, 1)
  if (key && !Number.isInteger(key[0])) throw invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])
  const rows = await store.listOutcomes(
    ctx.tx,
    ctx.workspace.workspace_id,
    run.run_id,
    input.outcome ?? null,
    (key?.[0] as number | undefined) ?? -1,
    input.limit,
  )
  return {
    ...run,
    ...toPage(rows, input.limit, (row) => [row.position]),
    comparison: input.compare === undefined ? null : await compare(parts, ctx, input.suite_id, run, input.compare),
  }
}

function checksIn(checks: Check[]): FieldError[] {
  return checks.flatMap((one, at): FieldError[] => {
    if (one.kind === 'cel') {
      const message = checkExpression(one.expression, CEL_ROOTS)
      return message === null ? [] : [{ path: `/checks/${at}/expression`, message }]
    }
    if (one.expected === undefined) {
      return one.kind === 'equal' ? [{ path: `/checks/${at}/expected`, message: 'is required' }] : []
    }
    return checkMapping({ expected: one.expected as Json }, `/checks/${at}`)
  })
}

export const makeSuites = (parts: SuitesOptions) => ({
  getSuite,
  searchSuites,
  listSuites,
  listSuiteRuns,
  getSuiteCase,
  ...bindVerbs(parts, { createSuite, updateSuite, deleteSuite, runSuite, getSuiteRun }),
})

export type Suites = ReturnType<typeof makeSuites>
