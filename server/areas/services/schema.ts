import { z } from 'zod'
import { anyId, anyText, defineList } from '#platform/http/list'
import { id, jsonObject, listQuery, reference, timestamp } from '#platform/http/schema'
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
    fields: z
      .array(
        z.object({
          name: z.string(),
          title: z.string(),
          description: z.string(),
          secret: z.boolean().describe('Goes into `secrets` of the credential; the others into `config.values`'),
          required: z.boolean(),
          default: z.unknown().optional().describe('What the piece suggests'),
          options: z
            .array(z.object({ label: z.string().describe('For people'), value: z.unknown().describe('The value') }))
            .optional()
            .describe('What can be chosen'),
        }),
      )
      .optional()
      .describe('Of a piece: what a person fills in'),
    can_test: z.boolean().optional().describe('Of a piece: whether `POST …/test` can try the credential'),
  })
  .meta({ id: 'ServiceAuth' })

export const Package = z
  .object({
    name: z.string().describe('The name of the piece or package'),
    version: z.string().describe('The release'),
    integrity: z.string().describe('The hash of the package: other code is not run under this release'),
    holds_secret: z
      .boolean()
      .describe('True: the code is given the secret itself, because it cannot work with a placeholder'),
    args: z.array(z.string()).optional().describe('Of an MCP server: what its program is started with'),
    environment: z
      .record(z.string(), z.string())
      .optional()
      .describe('Of an MCP server: its environment; `{{token}}` is replaced by a secret of the credential'),
  })
  .meta({ id: 'ServicePackage' })

export const TriggerSummary = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  kind: z.enum(['polling', 'webhook']).describe('`polling`: asked every few minutes; `webhook`: the vendor calls'),
})

const ServiceSummary = z.object({
  service: z.string(),
  title: z.string(),
  description: z.string(),
  keywords: z.array(z.string()).describe('Other words by which a search finds it'),
  credentials: z.array(z.string()).describe('The known services of `GET /api/credential-kinds` whose credentials fit'),
  credential_required: z.boolean().describe('Whether its actions need a `credential_id`'),
  reference: z.string().describe('The reference of the vendor; empty if an imported document names none'),
  source: z
    .enum(['built_in', 'openapi', 'mcp', 'piece', 'mcp_program'])
    .describe(
      '`built_in` comes with Heddle; the others were imported by the workspace, and take any credential for their host',
    ),
})

export const ServiceInList = ServiceSummary.extend({
  actions: z.array(ActionSummary).describe('With `q`, those that fit it'),
  triggers: z.array(TriggerSummary).describe('What can start a workflow'),
}).meta({ id: 'ServiceInList' })
export type ServiceInList = z.input<typeof ServiceInList>

export const ServiceDetail = ServiceSummary.extend({
  base_url: z.string().nullable().describe('Of an imported service: the address that its requests begin with'),
  auth: z.array(Auth).describe('Of an imported service: the ways of its document to prove who is calling'),
  version: z.string().nullable().describe('Of an imported service: the version of its document'),
  package: Package.nullable().describe('Of a piece or an MCP package: the code that runs'),
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
    .array(TriggerSummary.extend({ args_schema: jsonObject().describe('A JSON Schema, as for actions') }))
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
    .describe('The field to sort by; a leading `-` reverses the order'),
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
    args_schema: jsonObject()
      .optional()
      .describe('Of a piece: the form of a field that depends on what was chosen before'),
  })
  .meta({ id: 'ServiceOptions' })
export type OptionsAnswer = z.input<typeof OptionsAnswer>

export const ServiceTestRequest = z
  .strictObject({ credential_id: reference('cred').describe('The credential that is tried') })
  .meta({ id: 'ServiceTestRequest' })

export const ServiceTest = z
  .object({
    ok: z.boolean().nullable().describe('Null: the piece cannot check it'),
    message: z.string().describe('In the words of the piece'),
  })
  .meta({ id: 'ServiceTest' })
export type ServiceTest = z.input<typeof ServiceTest>

export const ServiceError = z
  .object({
    error_id: id('err').describe('Changes when the step fails again'),
    action: z.string().describe('The action that failed'),
    execution_id: id('exe').describe('The run'),
    workflow_id: id('wf').nullable(),
    node_id: z.string().describe('The step that failed last; inside a map or loop `each[3].call`'),
    code: z.string().describe('As in the error of the step'),
    message: z.string().describe('The message of the vendor, or why there was no call'),
    failures: z.int().describe('How often the step failed in this run: attempts, and items of a map'),
    failed_at: timestamp().describe('When it failed last'),
  })
  .meta({ id: 'ServiceError' })
export type ServiceError = z.input<typeof ServiceError>

export const serviceErrorList = defineList({
  id: 'error_id',
  created: 'failed_at',
  search: ['action', 'code', 'message'],
  sort: { failed_at: 'id' },
  order: '-failed_at',
  filters: {
    action: anyText('Only failures of this action, or of several, separated by commas'),
    code: anyText('Only failures with this code, or with one of several, separated by commas'),
    workflow_id: anyId('wf', 'Only failures in runs of this workflow'),
  },
})
