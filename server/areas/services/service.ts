import { needsCredential } from '#engine/nodes/service-call'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { decodeCursor, notACursor, toPage } from '#platform/http/page'
import type { ListQuery } from '#platform/http/schema'
import type { Catalogue } from '#providers/services/catalogue'
import type { Service, ServiceAction } from '#providers/services/manifest'
import type { ServiceDetail, ServiceInList } from './schema.ts'
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

export async function listServices(
  catalogue: Catalogue,
  _ctx: Context,
  { q = '', cursor, limit }: ListQuery & { q?: string | undefined },
) {
  const [after = ''] = decodeCursor(cursor, 1) ?? []
  if (typeof after !== 'string') throw notACursor()
  const found: ServiceInList[] = searchServices(catalogue.values(), q)
    .filter(({ service }) => service.service > after)
    .map(({ service, actions }) => ({ ...summary(service), actions: actions.map(actionSummary) }))
  return toPage(found.slice(0, limit + 1), limit, ({ service }) => [service])
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
