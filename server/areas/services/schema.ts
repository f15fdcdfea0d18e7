import { z } from 'zod'
import { jsonObject, listQuery, reference, timestamp } from '#platform/http/schema'
import { effects } from '#providers/services/manifest'

const effect = z
  .enum(effects)
  .describe('`read` changes nothing; `idempotent` may be repeated; `write` happens at most once')

export const ActionSummary = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  effect,
})

export const Auth = z
  .object({
    kind: z.string().describe('A kind of `GET /api/credential-kinds`'),
    title: z.string(),
    config: jsonObject().describe('What the document says of it: the name of a header, addresses of OAuth2'),
  })
  .meta({ id: 'ServiceAuth' })

const ServiceSummary = z.object({
  service: z.string(),
  title: z.string(),
  description: z.string(),
  keywords: z.array(z.string()).describe('Other words by which a search finds it'),
  credentials: z.array(z.string()).describe('The known services of `GET /api/credential-kinds` whose credentials fit'),
  credential_required: z.boolean().describe('Whether its actions need a `credential_id`'),
  reference: z.string().describe('The reference of the vendor; empty where an imported document names none'),
  source: z
    .enum(['built_in', 'openapi', 'mcp'])
    .describe(
      '`built_in` comes with Heddle; the others were imported by the workspace, and take any credential for their host',
    ),
})

export const ServiceInList = ServiceSummary.extend({
  actions: z.array(ActionSummary).describe('With `q`, those that fit it'),
}).meta({ id: 'ServiceInList' })
export type ServiceInList = z.input<typeof ServiceInList>

export const ServiceDetail = ServiceSummary.extend({
  base_url: z.string().nullable().describe('Of an imported service: the address that its requests begin with'),
  auth: z.array(Auth).describe('Of an imported service: the ways of its document to prove who is calling'),
  version: z.string().nullable().describe('Of an imported service: the version of its document'),
  updated_at: timestamp().nullable().describe('Of an imported service: when its document was imported last'),
  actions: z
    .array(
      ActionSummary.extend({
        args_schema: jsonObject().describe(
          'A JSON Schema; `x-options` names the choices that `POST …/options` lists for a field',
        ),
        paginated: z.boolean().describe('Whether the output is `{items, more}`'),
      }),
    )
    .describe('What can be called'),
  triggers: z
    .array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        args_schema: jsonObject().describe('A JSON Schema, as for actions'),
      }),
    )
    .describe('What can start a workflow: `POST /api/workflows/{workflow_id}/triggers`'),
  options: z
    .record(z.string(), z.object({ args: z.array(z.string()).describe('The arguments that must be chosen before') }))
    .describe('The choices that can be listed, by name'),
}).meta({ id: 'ServiceDetail' })
export type ServiceDetail = z.input<typeof ServiceDetail>

export const servicesQuery = listQuery.extend({
  q: z.string().max(100).optional().describe('Words in the names of services and actions'),
  sort: z
    .enum(['service', '-service', 'title', '-title'])
    .default('service')
    .describe('The order; a `-` in front turns it round'),
  credential_required: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('Only services that need a credential, or only the others'),
})

export const serviceQuery = z.strictObject({
  action: z.string().max(120).optional().describe('Gives this action alone: an imported service can have thousands'),
})

export const OptionsRequest = z
  .strictObject({
    options: z.string().max(60).describe('As `x-options` of the field names it'),
    args: jsonObject().optional().describe('Arguments chosen so far'),
    credential_id: reference('cred').optional(),
  })
  .meta({ id: 'ServiceOptionsRequest' })
export type OptionsRequest = z.output<typeof OptionsRequest>

export const OptionsAnswer = z
  .object({
    options: z
      .array(z.object({ value: z.unknown().describe('A text or a number'), label: z.string().describe('For people') }))
      .describe('The choices'),
    more: z.boolean().describe('Whether there are more than were listed'),
  })
  .meta({ id: 'ServiceOptions' })
export type OptionsAnswer = z.input<typeof OptionsAnswer>
