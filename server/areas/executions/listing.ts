import type { SystemWorkflow } from '#areas/workflows/system'
import type { TriggerKind } from '#engine/ports'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeIdCursor, encodeCursor, toPage } from '#platform/http/page'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { type Content, fieldsOf, hasContent, searchByContent } from './content.ts'
import type { Listing } from './newest.ts'
import type { ExecutionListQuery } from './schema.ts'
import { NOT_JOBS, NOT_TRIALS, searchExecutions } from './search.ts'
import * as store from './store.ts'

const listingOf = (asked: ExecutionListQuery): Listing => ({
  oldestFirst: asked.sort === 'created_at',
  after: decodeIdCursor(asked.cursor),
  from: asked.created_after ?? null,
  to: asked.created_before ?? null,
  limit: asked.limit,
})

type Parts = { system: ReadonlyMap<string, SystemWorkflow> }

export async function listOfWorkflow(
  { system }: Parts,
  ctx: Context,
  {
    workflow_id,
    include_jobs: jobs = false,
    include_trials: trials = false,
    ...asked
  }: {
    workflow_id: string
    include_jobs?: boolean | undefined
    include_trials?: boolean | undefined
  } & ExecutionListQuery,
) {
  const { workspace_id } = ctx.workspace
  const listing = listingOf(asked)
  const rows = system.has(workflow_id)
    ? await store.listBySystem(ctx.tx, workspace_id, workflow_id, ctx.person.user_id, listing)
    : await store.listByWorkflow(ctx.tx, workspace_id, workflow_id, { ...listing, jobs, trials })
  return toPage(rows, listing.limit, (row) => [row.execution_id])
}

export async function listOfSystem(
  { system }: Parts,
  ctx: Context,
  { workflow_id, ...asked }: { workflow_id: string } & ExecutionListQuery,
) {
  if (!system.has(workflow_id)) throw problem('not_found')
  const { workspace_id } = ctx.workspace
  const listing = listingOf(asked)
  const rows = await store.listBySystem(ctx.tx, workspace_id, workflow_id, ctx.person.user_id, listing)
  return toPage(rows, listing.limit, (row) => [row.execution_id])
}

type SearchInput = ExecutionListQuery & {
  status?: string[] | undefined
  workflow_id?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  trigger?: TriggerKind[] | undefined
  include_jobs?: boolean | undefined
  include_trials?: boolean | undefined
  q?: string | undefined
  error_code?: string | undefined
  node_id?: string | undefined
  tag?: string[] | undefined
  version_id?: string | undefined
}

export async function findExecutions({ system }: Parts, ctx: Context, input: SearchInput) {
  const wanted = input.workflow_id
  const slug = wanted !== undefined && system.has(wanted) ? wanted : null
  const filter = {
    workflowId: wanted === undefined || slug !== null ? null : (fromWire('wf', wanted) ?? UNKNOWN_ID),
    systemSlug: slug,
    status: input.status ?? null,
    trigger: input.trigger ?? wantedTriggers(input),
  }
  const listing = listingOf({
    ...input,
    created_after: input.created_after ?? input.from,
    created_before: input.created_before ?? input.to,
  })
  const content = contentOf(input)
  const keyOf = (row: { execution_id: string }) => [row.execution_id]
  const { workspace_id } = ctx.workspace
  const { user_id } = ctx.person
  if (!hasContent(content))
    return toPage(await searchExecutions(ctx.tx, workspace_id, user_id, filter, listing), input.limit, keyOf)
  const found = await searchByContent(
    ctx.tx,
    { workspaceId: workspace_id, userId: user_id },
    { ...filter, content },
    listing,
  )
  const page = toPage(found.rows, input.limit, keyOf)
  return page.next_cursor === null && found.lookedUntil !== null
    ? { ...page, next_cursor: encodeCursor([found.lookedUntil]) }
    : page
}

/** The remaining query parameters are fields of the input and of the metadata. */
function contentOf(input: SearchInput): Content {
  const {
    limit: _limit,
    cursor: _cursor,
    sort: _sort,
    created_after: _after,
    created_before: _before,
    status: _status,
    workflow_id: _workflow,
    from: _from,
    to: _to,
    trigger: _trigger,
    include_jobs: _jobs,
    include_trials: _trials,
    q,
    error_code,
    node_id,
    tag = [],
    version_id,
    ...more
  } = input
  const fields = fieldsOf(more)
  const labels = [
    ...tag.map((one) => `tag:${one}`),
    ...(error_code === undefined ? [] : [`error:${error_code}`]),
    ...(node_id === undefined ? [] : [`node:${node_id}`]),
    ...fields.labels,
  ]
  return { labels, input: fields.input, q: q ?? null, versionId: version_id ?? null }
}

function wantedTriggers({
  include_jobs,
  include_trials,
}: {
  include_jobs?: boolean | undefined
  include_trials?: boolean | undefined
}): TriggerKind[] | null {
  if (include_jobs) return include_trials ? null : NOT_TRIALS
  return include_trials ? [...NOT_JOBS, 'trial'] : NOT_JOBS
}
