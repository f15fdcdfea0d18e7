import type { z } from 'zod'
import { member, signedIn } from '#platform/access/words'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { listServiceOptions, type OptionParts } from './options.ts'
import {
  OptionsAnswer,
  OptionsRequest,
  type OptionsRequest as Request,
  ServiceDetail,
  ServiceInList,
  servicesQuery,
} from './schema.ts'
import { getService, listServices } from './service.ts'

export const serviceRoutes = (parts: OptionParts): AnyRoute[] =>
  routes(
    'Services',
    {
      listServices: ['GET', '/api/services', signedIn],
      getService: ['GET', '/api/services/:service', signedIn],
      listServiceOptions: ['POST', '/api/services/:service/options', member('workspace'), 'run'],
    },
    {
      listServices: {
        summary: 'The services that `service.call` knows, with their actions',
        extension: true,
        query: servicesQuery,
        answer: page(ServiceInList),
        run: (ctx: Context, input: z.output<typeof servicesQuery>) => listServices(parts.catalogue, ctx, input),
      },
      getService: {
        summary: 'One service, with the arguments of its actions as JSON Schemas',
        extension: true,
        answer: ServiceDetail,
        run: (ctx: Context, input: { service: string }) => getService(parts.catalogue, ctx, input),
      },
      listServiceOptions: {
        summary: 'What can be chosen for a field of an action, read from the service with your credential',
        extension: true,
        body: OptionsRequest,
        answer: OptionsAnswer,
        transaction: false,
        idempotency: 'none',
        alsoRefuses: [409],
        examples: { body: { options: 'channels', args: {} } },
        run: (ctx: Context, input: { service: string } & Request) => listServiceOptions(parts, ctx, input),
      },
    },
  )
