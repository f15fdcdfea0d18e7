import type { z } from 'zod'
import { Credential, credentialList } from '#areas/credentials/schema'
import { member, signedIn, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { listServiceCredentials, listServiceErrors } from './connected.ts'
import { deleteService, type ImportParts, importService, previewServiceImport, requireMayDelete } from './import.ts'
import { type ImportRequest as ImportInput, ImportRequest, ServiceImport } from './import-schema.ts'
import { listServiceOptions, type OptionParts } from './options.ts'
import { requirePiece, testServiceCredential } from './piece-options.ts'
import {
  OptionsAnswer,
  OptionsRequest,
  type OptionsRequest as Request,
  ServiceDetail,
  ServiceError,
  ServiceInList,
  ServiceTest,
  ServiceTestRequest,
  serviceErrorList,
  serviceQuery,
  servicesQuery,
} from './schema.ts'
import { getService, listServices } from './service.ts'

type One = { service: string }

export function serviceRoutes(parts: OptionParts & ImportParts): AnyRoute[] {
  const readService = (ctx: Context, input: One & { action?: string | undefined }) =>
    getService(parts.catalogue, ctx, input)
  return routes(
    'Services',
    {
      listServices: ['GET', '/api/services', signedIn],
      getService: ['GET', '/api/services/:service', signedIn],
      importService: ['POST', '/api/services/import', member('workspace')],
      previewServiceImport: ['POST', '/api/services/import/preview', member('workspace')],
      deleteService: ['DELETE', '/api/services/:service', member('workspace')],
      listServiceOptions: ['POST', '/api/services/:service/options', member('workspace'), 'run'],
      listServiceCredentials: ['GET', '/api/services/:service/credentials', viewer('workspace')],
      listServiceErrors: ['GET', '/api/services/:service/errors', viewer('workspace')],
      testServiceCredential: ['POST', '/api/services/:service/test', member('workspace'), 'run'],
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
        query: serviceQuery,
        answer: ServiceDetail,
        run: readService,
      },
      importService: {
        summary: 'Import an OpenAPI document, an MCP server or a piece as a service of the workspace',
        description:
          'Every operation or tool becomes an action of `custom.` and the name, for `service.call`. The name of an action begins with the method of the operation, or with `call` or `get` for tools, and with `get`, `put` or `call` for pieces. References to other documents are not followed.',
        extension: true,
        body: ImportRequest,
        bodyLimit: 'document',
        answer: ServiceImport,
        status: 201,
        location: ({ service }) => `/api/services/${service}`,
        transaction: false,
        alsoRefuses: [409, 413],
        examples: { body: { name: 'shop', url: 'https://shop.example.com/openapi.json' } },
        run: (ctx: Context, input: ImportInput) => importService(parts, ctx, input),
      },
      previewServiceImport: {
        summary: 'What importing a document or an MCP server would give',
        extension: true,
        body: ImportRequest,
        bodyLimit: 'document',
        answer: ServiceImport,
        transaction: false,
        idempotency: 'none',
        alsoRefuses: [409, 413],
        examples: { body: { name: 'shop', url: 'https://shop.example.com/openapi.json' } },
        run: (ctx: Context, input: ImportInput) => previewServiceImport(parts, ctx, input),
      },
      deleteService: {
        summary: 'Delete an imported service',
        description:
          'Workflows that call it fail from then on. Allowed to the person who imported it and to owners of the workspace.',
        extension: true,
        status: 204,
        current: readService,
        allowed: requireMayDelete,
        run: deleteService,
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
      listServiceCredentials: {
        summary: 'The credentials with which a service can be called, of those that you see',
        description:
          'Those that were stored for the service or for the piece, and those that are sent to the address of an imported service.',
        extension: true,
        query: credentialList.query,
        answer: page(Credential),
        run: (ctx: Context, input: One & ListInput) => listServiceCredentials(parts.catalogue, ctx, input),
      },
      listServiceErrors: {
        summary: 'The last failures of a service, in runs that you see, the newest first',
        description:
          'A step has one entry in each run, whether or not a later attempt worked. The last 50 of each workflow are kept, as long as the runs are. They are shown within a second or two.',
        extension: true,
        query: serviceErrorList.query,
        answer: page(ServiceError),
        run: (ctx: Context, input: One & ListInput) => listServiceErrors(parts.catalogue, ctx, input),
      },
      testServiceCredential: {
        summary: 'Ask an imported piece whether a credential works',
        extension: true,
        body: ServiceTestRequest,
        answer: ServiceTest,
        transaction: false,
        idempotency: 'none',
        alsoRefuses: [409],
        allowed: requirePiece,
        examples: { body: { credential_id: 'cred_01kf3v6h2he3wtpk1fw5c0wz9d' } },
        run: (ctx: Context, input: { service: string; credential_id: string }) =>
          testServiceCredential(parts, ctx, input),
      },
    },
  )
}
