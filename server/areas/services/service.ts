import type { z } from 'zod'
import { needsCredential } from '#engine/nodes/service-call'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeCursor, notACursor, toPage } from '#platform/http/page'
import type { Catalogue } from '#providers/services/catalogue'
import type { Service, ServiceAction } from '#providers/services/manifest'
import type { ServiceDetail, ServiceInList, servicesQuery } from './schema.ts'
import { searchServices, shownActions } from './search.ts'

// The catalogue of services, for palettes and forms.

const summary = (service: Service) => ({
  service: service.service,
  title: service.title,
  description: service.description,
  keywords: service.keywords ?? [],
  credentials: service.credentials,
  credential_required: needsCredential(service),
  reference: service.reference,
})

const actionSummary = ({ name, title, description, effect }: ServiceAction) => ({ name, title, description, effect })

/** By the field, then by name, so that no two are equal. */
const compare = (a: readonly string[], b: readonly string[]): number => {
  const at = a.findIndex((part, index) => part !== b[index])
  return at === -1 ? 0 : a[at]! < b[at]! ? -1 : 1
}

export async function listServices(catalogue: Catalogue, _ctx: Context, asked: z.output<typeof servicesQuery>) {
  const { q = '', sort, credential_required, limit } = asked
  const after = decodeCursor(asked.cursor, 2)
  if (after && !after.every((part) => typeof part === 'string')) throw notACursor()
  const sign = sort.startsWith('-') ? -1 : 1
  const keyOf = (row: ServiceInList): [string, string] => [
    row[sort.replace('-', '') as 'service' | 'title'],
    row.service,
  ]
  const found: ServiceInList[] = searchServices(catalogue.values(), q)
    .map(({ service, actions }) => ({ ...summary(service), actions: actions.map(actionSummary) }))
    .filter((row) => credential_required === undefined || row.credential_required === credential_required)
    .filter((row) => !after || sign * compare(keyOf(row), after as string[]) > 0)
    .sort((a, b) => sign * compare(keyOf(a), keyOf(b)))
  return toPage(found.slice(0, limit + 1), limit, keyOf)
}

export function findService(catalogue: Catalogue, name: string): Service {
  const service = catalogue.get(name)
  if (!service) throw problem('not_found')
  return service
}

export async function getService(
  catalogue: Catalogue,
  _ctx: Context,
  input: { service: string },
): Promise<ServiceDetail> {
  const service = findService(catalogue, input.service)
  const options = Object.entries(service.options ?? {}).map(([name, { args = {} }]) => [
    name,
    { args: Object.values(args).flatMap((value) => (typeof value === 'string' ? [value.replace(/^\$/, '')] : [])) },
  ])
  return {
    ...summary(service),
    actions: shownActions(service).map((action) => ({
      ...actionSummary(action),
      args_schema: action.args_schema,
      paginated: action.paginate !== undefined,
    })),
    triggers: [...service.triggers.values()].map(({ name, title, description, args_schema }) => ({
      name,
      title,
      description,
      args_schema,
    })),
    options: Object.fromEntries(options),
  }
}
