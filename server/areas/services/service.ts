import type { z } from 'zod'
import { needsCredential } from '#engine/nodes/service-call'
import type { JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeCursor, notACursor, toPage } from '#platform/http/page'
import type { Catalogue } from '#providers/services/catalogue'
import type { Service, ServiceAction, ServiceTrigger } from '#providers/services/manifest'
import type { PiecePackage } from '#providers/services/pieces/index'
import { receivesSecret } from '#providers/services/pieces/secret-pieces'
import type { McpProgram } from '#providers/services/programs/index'
import * as store from './import-store.ts'
import { actionOfRow, serviceOfRow } from './imported.ts'
import type { ServiceDetail, ServiceInList, servicesQuery } from './schema.ts'
import { searchServices, shownActions } from './search.ts'

// The catalog of services, for palettes and forms.

const summary = (service: Service, source: ServiceInList['source']) => ({
  service: service.service,
  title: service.title,
  description: service.description,
  keywords: service.keywords ?? [],
  credentials: service.credentials,
  credential_required: needsCredential(service),
  reference: service.reference,
  source,
})

const actionSummary = ({ name, title, description, effect }: ServiceAction) => ({ name, title, description, effect })

/** Compares by the sort field, then by name, so that no two services are equal. */
const compare = (a: readonly string[], b: readonly string[]): number => {
  const at = a.findIndex((part, index) => part !== b[index])
  return at === -1 ? 0 : a[at]! < b[at]! ? -1 : 1
}

export async function listServices(catalogue: Catalogue, ctx: Context, asked: z.output<typeof servicesQuery>) {
  const { q = '', sort, credential_required, limit } = asked
  const after = decodeCursor(asked.cursor, 2)
  if (after && !after.every((part) => typeof part === 'string')) throw notACursor()
  const sign = sort.startsWith('-') ? -1 : 1
  const keyOf = (row: ServiceInList): [string, string] => [
    row[sort.replace('-', '') as 'service' | 'title'],
    row.service,
  ]
  const imported = await importedServices(ctx)
  const found: ServiceInList[] = searchServices([...catalogue.values(), ...imported.keys()], q)
    .map(({ service, actions }) => ({
      ...summary(service, imported.get(service)?.kind ?? 'built_in'),
      actions: actions.map(actionSummary),
      triggers: imported.get(service)?.triggers ?? triggersOf(service).map(({ args_schema: _args, ...head }) => head),
    }))
    .filter((row) => credential_required === undefined || row.credential_required === credential_required)
    .filter((row) => !after || sign * compare(keyOf(row), after as string[]) > 0)
    .sort((a, b) => sign * compare(keyOf(a), keyOf(b)))
  return toPage(found.slice(0, limit + 1), limit, keyOf)
}

type Listed = { kind: ServiceInList['source']; triggers: store.TriggerHead[] }

/** Returns the imported services of the selected workspace, without the arguments of their actions. Guests see none. */
async function importedServices(ctx: Context): Promise<Map<Service, Listed>> {
  const { maybeWorkspace } = ctx
  if (maybeWorkspace === null || maybeWorkspace.role === 'guest') return new Map()
  const rows = await store.listImported(ctx.tx, maybeWorkspace.workspace_id)
  if (rows.length === 0) return new Map()
  const heads = await store.listActionHeads(ctx.tx, maybeWorkspace.workspace_id, null)
  const byService = Map.groupBy(heads, ({ service_id }) => service_id)
  return new Map(
    rows.map((row) => {
      const actions = (byService.get(row.service_id) ?? []).map((head) => ({ ...head, args_schema: {} }))
      return [serviceOfRow(row, actions), { kind: row.kind, triggers: row.triggers }]
    }),
  )
}

export function findService(catalogue: Catalogue, name: string): Service {
  const service = catalogue.get(name)
  if (!service) throw problem('not_found')
  return service
}

export async function getService(
  catalogue: Catalogue,
  ctx: Context,
  input: { service: string; action?: string | undefined },
): Promise<ServiceDetail> {
  const service = catalogue.get(input.service)
  return service ? detailOf(service, input.action) : importedDetail(ctx, input)
}

async function importedDetail(
  ctx: Context,
  input: { service: string; action?: string | undefined },
): Promise<ServiceDetail> {
  const { maybeWorkspace } = ctx
  if (maybeWorkspace === null || maybeWorkspace.role === 'guest') throw problem('not_found')
  const { workspace_id } = maybeWorkspace
  const row = await store.findImported(ctx.tx, workspace_id, input.service)
  if (!row) throw problem('not_found')
  const actions = await store.listActions(ctx.tx, workspace_id, row.service_id, input.action ?? null)
  return {
    ...detailOf(serviceOfRow(row, actions.map(actionOfRow)), undefined),
    source: row.kind,
    base_url: row.base_url,
    auth: row.auth,
    version: row.version,
    package: packageOf(row.package),
    triggers: (await store.listPieceTriggers(ctx.tx, workspace_id, row.service_id)).map(
      ({ name, title, description, kind, args_schema }) => ({ name, title, description, kind, args_schema }),
    ),
    options: pieceOptions(actions.map(({ action }) => action.args_schema as JsonObject)),
    updated_at: row.updated_at,
  }
}

export function packageOf(code: PiecePackage | McpProgram | null): ServiceDetail['package'] {
  if (!code) return null
  const { name, version, integrity } = code
  if (!('entry' in code)) return { name, version, integrity, holds_secret: receivesSecret(name) }
  return { name, version, integrity, holds_secret: false, args: code.args, environment: code.environment }
}

/** Returns the options of a piece, with the fields on which they depend. */
function pieceOptions(schemas: readonly JsonObject[]): ServiceDetail['options'] {
  const options: ServiceDetail['options'] = {}
  for (const { properties } of schemas)
    for (const field of isObject(properties) ? Object.values(properties) : [])
      if (isObject(field) && typeof field['x-options'] === 'string')
        options[field['x-options']] = { args: Array.isArray(field['x-after']) ? field['x-after'].map(String) : [] }
  return options
}

const shownTrigger = (
  { name, title, description, args_schema }: Pick<ServiceTrigger, 'name' | 'title' | 'description' | 'args_schema'>,
  kind: 'polling' | 'webhook',
) => ({ name, title, description, kind, args_schema })

const triggersOf = (service: Service): ServiceDetail['triggers'] => [
  ...[...service.triggers.values()].map((trigger) => shownTrigger(trigger, 'polling')),
  ...[...service.hooks.values()].map((hook) => shownTrigger(hook, 'webhook')),
]

function detailOf(service: Service, only: string | undefined): ServiceDetail {
  const options = Object.entries(service.options ?? {}).map(([name, { args = {} }]) => [
    name,
    { args: Object.values(args).flatMap((value) => (typeof value === 'string' ? [value.replace(/^\$/, '')] : [])) },
  ])
  return {
    ...summary(service, 'built_in'),
    base_url: null,
    auth: [],
    version: null,
    package: null,
    updated_at: null,
    actions: shownActions(service)
      .filter(({ name }) => only === undefined || name === only)
      .map((action) => ({
        ...actionSummary(action),
        args_schema: action.args_schema,
        paginated: action.paginate !== undefined,
      })),
    triggers: triggersOf(service),
    options: Object.fromEntries(options),
  }
}
