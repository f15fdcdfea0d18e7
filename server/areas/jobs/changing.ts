import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { DatasetUse } from '#areas/datasets/use'
import { firstRun } from '#areas/workflows/schedules'
import type { Workflows } from '#areas/workflows/service'
import { definitionText } from '#model/canonical'
import type { Definition, Json, JsonObject } from '#model/definition'
import { invalid, problem, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { newId } from '#platform/ids'
import * as executed from './executed-store.ts'
import { DEFAULT_RETRY } from './ledger/verdict.ts'
import { checkColumns, checkMapping, checkOnlyIf, checkTargets } from './recipe.ts'
import { DEFAULT_CONCURRENCY, DEFAULT_ERROR_RATE, type JobPut } from './schema.ts'
import { type JobFields, outputIsGone } from './store.ts'

// Applies a change to a job: what it executes, what it is bound to, and whether these fit together.

/** A new job with defaults for everything except its name. */
export const fresh: JobFields = {
  name: '',
  workflow_id: null,
  definition_id: null,
  dataset_id: null,
  source_id: null,
  mapping: null,
  only_if: null,
  output_name: null,
  output_dataset_id: null,
  output_bound: false,
  output_mode: 'replace',
  cron: null,
  timezone: null,
  concurrency: DEFAULT_CONCURRENCY,
  stop_on_error_rate: DEFAULT_ERROR_RATE,
  key_column: null,
  retry: DEFAULT_RETRY,
  max_cost: null,
  max_tokens: null,
  due_at: null,
}

export type ChangeOptions = {
  workflows: Pick<Workflows, 'checkDefinition'>
  datasets: Pick<DatasetUse, 'findPointed'>
}

/** Returns what the job executes after the change. A workflow is accepted only if the caller may run it. */
async function executes(
  { workflows }: ChangeOptions,
  ctx: Context,
  jobId: string,
  given: JobPut,
  present: JobFields,
): Promise<Pick<JobFields, 'workflow_id' | 'definition_id'> & { inputs: Json }> {
  const { workspace_id } = ctx.workspace
  if (given.workflow_id != null && given.definition != null)
    throw invalid([{ path: '/definition', message: 'cannot be combined with workflow_id' }])
  if (given.definition != null) {
    const before =
      present.definition_id === null
        ? undefined
        : await executed.findDefinition(ctx.tx, workspace_id, present.definition_id)
    const definition = await workflows.checkDefinition(ctx, given.definition, {
      present: before?.definition as Definition | undefined,
    })
    const sha256 = createHash('sha256').update(definitionText(definition)).digest('hex')
    const inputs = (definition.inputs ?? true) as Json
    if (before?.sha256 === sha256) return { workflow_id: null, definition_id: present.definition_id, inputs }
    const definition_id = newId()
    await executed.insertDefinition(ctx.tx, workspace_id, {
      definition_id,
      job_id: jobId,
      definition: definition as unknown as Json,
      sha256,
      created_by: ctx.person.user_id,
    })
    return { workflow_id: null, definition_id, inputs }
  }
  if (given.workflow_id != null && given.workflow_id !== present.workflow_id) {
    const target = await executed.findPinnedWorkflow(ctx.tx, workspace_id, given.workflow_id, ctx.person.user_id)
    const mine = target?.owner_id === ctx.person.user_id
    if (!target || (ctx.workspace.role === 'guest' && target.role === null && !mine))
      throw unknownReference('/workflow_id')
    if (!mine && target.role !== 'member' && target.role !== 'editor')
      throw problem('forbidden', 'Only the owner or a member of the workflow may let a job run it.')
    return { workflow_id: given.workflow_id, definition_id: null, inputs: target.inputs ?? true }
  }
  if (present.workflow_id !== null && given.workflow_id !== null) {
    const target = await executed.findPinnedWorkflow(ctx.tx, workspace_id, present.workflow_id, ctx.person.user_id)
    return { workflow_id: present.workflow_id, definition_id: null, inputs: target?.inputs ?? true }
  }
  if (present.definition_id !== null && given.definition !== null) {
    const { definition } = (await executed.findDefinition(ctx.tx, workspace_id, present.definition_id))!
    const inputs = ((definition as unknown as Definition).inputs ?? true) as Json
    return { workflow_id: null, definition_id: present.definition_id, inputs }
  }
  throw executesNothing()
}

async function checkBinding(ctx: Context, fields: JobFields, present: JobFields): Promise<void> {
  const { workspace_id, role } = ctx.workspace
  const unknown: string[] = []
  // Guests can see neither datasets nor sources. Existing bindings stay.
  const check = async (what: 'datasets' | 'sources', path: string, id: string | null, before: string | null) => {
    if (id === null || id === before) return
    if (role === 'guest' || !(await executed.exists(ctx.tx, what, workspace_id, id))) unknown.push(path)
  }
  await check('datasets', '/dataset_id', fields.dataset_id, present.dataset_id)
  await check('sources', '/source_id', fields.source_id, present.source_id)
  await check('datasets', '/output/dataset_id', fields.output_dataset_id, present.output_dataset_id)
  if (unknown.length > 0) throw unknownReference(...unknown)
  await checkOutput(ctx, fields)
  if (fields.output_dataset_id !== null && fields.output_dataset_id === fields.dataset_id)
    throw invalid([{ path: '/output/dataset_id', message: 'is the dataset that the job reads' }])
}

/** Rows that a run did not read must not disappear from its output. */
async function checkOutput(ctx: Context, fields: JobFields): Promise<void> {
  const writes = fields.output_bound || fields.output_name !== null
  if (!writes) return
  if (fields.output_mode === 'upsert') {
    if (fields.key_column === null)
      throw invalid([{ path: '/key', message: 'is required for an output with the mode upsert' }])
    return
  }
  const isIncremental =
    fields.source_id !== null && (await executed.hasCursor(ctx.tx, ctx.workspace.workspace_id, fields.source_id))
  if (isIncremental)
    throw invalid([{ path: '/output/mode', message: 'must be upsert: the source returns only new rows' }])
}

async function checkRecipe({ datasets }: ChangeOptions, ctx: Context, fields: JobFields, inputs: Json): Promise<void> {
  const mapping = fields.mapping as JsonObject | null
  const errors = [
    ...(mapping === null ? [] : [...checkMapping(mapping), ...checkTargets(mapping, inputs)]),
    ...(fields.only_if === null ? [] : checkOnlyIf(fields.only_if)),
  ]
  if ((mapping !== null || fields.key_column !== null) && fields.dataset_id !== null) {
    const dataset = await datasets.findPointed(ctx.tx, ctx.workspace.workspace_id, fields.dataset_id)
    if (dataset?.columns_complete && dataset.record_count > 0) {
      const columns = new Set(dataset.columns.map(({ name }) => name))
      if (mapping !== null) errors.push(...checkColumns(mapping, columns))
      if (fields.key_column !== null && !columns.has(fields.key_column))
        errors.push({ path: '/key', message: 'the dataset has no such column' })
    }
  }
  if (errors.length > 0) throw invalid(errors.slice(0, 50))
}

/** Returns the row after the change. Absent fields stay unchanged, and null clears a field. */
export async function changeJob(
  deps: ChangeOptions,
  ctx: Context,
  jobId: string,
  given: JobPut,
  present: JobFields,
  now: Date | null,
): Promise<JobFields> {
  if (given.dataset_id != null && given.source_id != null)
    throw invalid([{ path: '/source_id', message: 'cannot be combined with dataset_id' }])
  const { inputs, ...what } = await executes(deps, ctx, jobId, given, present)
  const fields: JobFields = {
    ...present,
    ...what,
    name: given.name ?? present.name,
    dataset_id: given.dataset_id !== undefined ? given.dataset_id : given.source_id ? null : present.dataset_id,
    source_id: given.source_id !== undefined ? given.source_id : given.dataset_id ? null : present.source_id,
    mapping: given.mapping === undefined ? present.mapping : (given.mapping as Json),
    only_if: given.only_if === undefined ? present.only_if : given.only_if,
    ...outputOf(given.output, present),
    concurrency: given.concurrency === undefined ? present.concurrency : (given.concurrency ?? DEFAULT_CONCURRENCY),
    stop_on_error_rate: given.stop_on_error_rate === undefined ? present.stop_on_error_rate : given.stop_on_error_rate,
    key_column: given.key === undefined ? present.key_column : given.key,
    retry: retryOf(given.retry, present.retry),
    max_cost: given.max_cost === undefined ? present.max_cost : given.max_cost,
    max_tokens: given.max_tokens === undefined ? present.max_tokens : given.max_tokens,
  }
  await checkBinding(ctx, fields, present)
  // An unchanged recipe is not checked, although the dataset may have changed since. The run reports such errors.
  if (!isDeepStrictEqual(recipeOf(fields), recipeOf(present))) await checkRecipe(deps, ctx, fields, inputs)
  if (given.schedule === undefined) return fields
  const { cron, timezone } = given.schedule ?? { cron: null, timezone: null }
  const next = cron === null ? null : await firstRun(ctx.tx, cron, timezone, '/schedule')
  const asked = present.due_at !== null && now !== null && present.due_at <= now
  const same = cron === present.cron && timezone === present.timezone
  return { ...fields, cron, timezone, due_at: asked || same ? present.due_at : next }
}

const executesNothing = () => invalid([{ path: '/workflow_id', message: 'workflow_id or definition is required' }])

const recipeOf = (fields: JobFields) => [
  fields.mapping,
  fields.only_if,
  fields.key_column,
  fields.dataset_id,
  fields.workflow_id,
  fields.definition_id,
]

/** Null sets the defaults. Absent fields keep their values. */
function retryOf(given: JobPut['retry'], present: JobFields['retry']): JobFields['retry'] {
  if (given === undefined) return present
  if (given === null) return DEFAULT_RETRY
  const {
    max_attempts = present.max_attempts,
    backoff_s = present.backoff_s,
    factor = present.factor,
    max_backoff_s = present.max_backoff_s,
  } = given
  return { max_attempts, backoff_s, factor, max_backoff_s }
}

function outputOf(
  given: JobPut['output'],
  present: JobFields,
): Pick<JobFields, 'output_name' | 'output_dataset_id' | 'output_bound' | 'output_mode'> {
  const { output_name, output_dataset_id, output_bound } = present
  if (given === undefined) return { output_name, output_dataset_id, output_bound, output_mode: present.output_mode }
  if (given === null) return { output_name: null, output_dataset_id: null, output_bound: false, output_mode: 'replace' }
  const output_mode = given.mode ?? present.output_mode
  if (given.new === undefined) {
    const { dataset_id = null } = given
    // A client may send back a job whose dataset was deleted, as it read it.
    if (dataset_id === null && !outputIsGone(present))
      throw invalid([{ path: '/output', message: 'must have new or dataset_id' }])
    return { output_name: null, output_dataset_id: dataset_id, output_bound: true, output_mode }
  }
  const kept = given.new === present.output_name ? present.output_dataset_id : null
  // A client may send back both values as it read them. Otherwise a caller cannot choose the dataset of a new output.
  if (given.dataset_id != null && given.dataset_id !== kept)
    throw invalid([{ path: '/output', message: 'must have either new or dataset_id, not both' }])
  return { output_name: given.new, output_dataset_id: kept, output_bound: false, output_mode }
}
