import { z } from 'zod'
import { languageTag } from '#areas/requirements/schema'
import { givenShares, shownShares } from '#areas/teams/shares'
import { origins } from '#areas/workflows/token-schema'
import { anyId, defineList } from '#platform/http/list'
import { id, jsonObject, name, reference, timestamp } from '#platform/http/schema'

export const Features = z.object({
  speech: z.boolean(),
  transcribe: z.boolean(),
  names: z.boolean().describe('Visitors learn the names of colleagues who talk with them'),
})
export type Features = z.output<typeof Features>
/** Returns the features, with defaults for those that the template does not set. */
export const featuresOf = (stored: Partial<Features>): Features => ({
  speech: true,
  transcribe: true,
  names: false,
  ...stored,
})

const TEAM_ROLES: ['editor'] = ['editor']

const MODES = ['menu', 'agent'] as const
const MAX_KNOWLEDGE = 20
const MAX_TOOLS = 50

const toolArguments = z
  .strictObject({
    fixed: z
      .record(z.string().max(200), z.unknown())
      .optional()
      .describe('Arguments that every call has; the model neither sees nor changes them'),
    allowed: z
      .record(z.string().max(200), z.array(z.unknown()).min(1).max(200))
      .optional()
      .describe('For each argument, the values that the model can choose from'),
  })
  .optional()
  .describe('What the model may not decide')

const toolDescription = z.string().max(1000).optional().describe('For the model: what it is for, and when to use it')

export const TemplateTool = z
  .union([
    z.strictObject({
      workflow_id: z.string().max(200).describe('A workflow that the owner of the template may start'),
      description: toolDescription,
      arguments: toolArguments,
    }),
    z.strictObject({
      service: z.string().max(120).describe('A service of `GET /api/services`, imported ones among them'),
      action: z.string().max(100).describe('One of its actions'),
      credential_id: z.string().max(200).optional().describe('A credential that the owner of the template may use'),
      description: toolDescription,
      arguments: toolArguments,
    }),
    z.strictObject({
      dataset_id: z.string().max(200).describe('A dataset in which the agent finds records'),
      columns: z.array(z.string().max(200)).min(1).max(100).optional().describe('Columns that it sees; default: all'),
      match: z
        .array(z.string().max(200))
        .min(1)
        .max(20)
        .optional()
        .describe('Columns whose values it has to know: without all of them it finds nothing'),
      description: toolDescription,
    }),
  ])
  .meta({ id: 'TemplateTool' })

export const Template = z
  .object({
    template_id: id('tmpl'),
    name: z.string(),
    owner_id: id('usr'),
    teams: shownShares(TEAM_ROLES),
    greeting: z.string().nullable(),
    locale: z
      .string()
      .nullable()
      .describe(
        'The language of texts that are written without a language model, if the language of the person is not known; null: English',
      ),
    instructions: z.string().nullable(),
    workflow_ids: z.array(id('wf')),
    model: z.string().nullable(),
    llm: z
      .object({ credential_id: z.string().optional(), fallback_credential_id: z.string().optional() })
      .nullable()
      .describe('Credentials of kind llm; the workspace’s model where null'),
    voice: z.string().nullable(),
    theme: jsonObject(),
    features: Features,
    allowed_origins: z.array(z.string()),
    mode: z
      .enum(MODES)
      .describe('`menu` offers workflows by rules; `agent` answers with a language model, its knowledge and its tools'),
    knowledge_ids: z.array(id('kb')).describe('Knowledge bases that an agent searches, with the rights of the owner'),
    tools: z.array(TemplateTool).describe('What an agent may use besides `workflow_ids`, with the rights of the owner'),
    retention_days: z
      .number()
      .nullable()
      .describe('Days after their last message until conversations with visitors and people in channels are deleted'),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Template' })
export type Template = z.input<typeof Template>

/** A theme becomes style on another site's page: only colors, sizes, names and https addresses are allowed. */
const harmful = /[<>{};\\\p{Cc}]|url\s*\(|expression\s*\(|@import|^\s*(?!https?:)[a-z][a-z0-9+.-]*:/iu
const findHarmful = (value: unknown, path: (string | number)[], depth = 0): (string | number)[] | undefined => {
  if (depth > 5) return path
  if (typeof value === 'string') return value.length > 500 || harmful.test(value) ? path : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    if (key.length > 100 || harmful.test(key)) return path
    const found = findHarmful(inner, [...path, key], depth + 1)
    if (found) return found
  }
  return undefined
}
const theme = jsonObject().superRefine((value, context) => {
  const path = JSON.stringify(value).length > 10_000 ? [] : findHarmful(value, [])
  if (path)
    context.addIssue({
      code: 'custom',
      path,
      message: 'must be a colour, a size, a name or an https address; markup and style rules are refused',
    })
})

const text = (longest: number) => z.string().max(longest)
const features = z.strictObject({
  speech: z.boolean().optional(),
  transcribe: z.boolean().optional(),
  names: z.boolean().optional(),
})
const model = z
  .string()
  .max(200)
  .regex(/^[\w.:/@-]+$/, 'is not the name of a model')

const retentionDays = z.int().min(1).max(36_500).nullable().optional()

const llm = z
  .strictObject({ credential_id: z.string().max(200), fallback_credential_id: z.string().max(200).optional() })
  .nullable()
  .optional()

export const NewTemplate = z.strictObject({
  name: name(),
  greeting: text(2000).nullable().optional(),
  locale: languageTag
    .nullable()
    .optional()
    .describe('The language of texts that are written without a language model, such as de-CH'),
  instructions: text(20_000).nullable().optional(),
  workflow_ids: z.array(reference('wf')).max(50).optional(),
  model: model.nullable().optional(),
  llm,
  voice: text(100).nullable().optional(),
  theme: theme.optional(),
  features: features.optional(),
  allowed_origins: origins.optional(),
  mode: z.enum(MODES).optional(),
  knowledge_ids: z.array(reference('kb')).max(MAX_KNOWLEDGE).optional(),
  tools: z.array(TemplateTool).max(MAX_TOOLS).optional(),
  retention_days: retentionDays,
  teams: givenShares(TEAM_ROLES, 'editor').optional(),
})
export type NewTemplate = z.output<typeof NewTemplate>

export const TemplatePatch = z.strictObject({
  name: name().optional(),
  greeting: text(2000).nullable().optional(),
  locale: languageTag
    .nullable()
    .optional()
    .describe('The language of texts that are written without a language model, such as de-CH'),
  instructions: text(20_000).nullable().optional(),
  workflow_ids: z.array(reference('wf')).max(50).nullable().optional(),
  model: model.nullable().optional(),
  llm,
  voice: text(100).nullable().optional(),
  theme: theme.nullable().optional(),
  features: features.nullable().optional(),
  allowed_origins: origins.nullable().optional(),
  mode: z.enum(MODES).optional(),
  knowledge_ids: z.array(reference('kb')).max(MAX_KNOWLEDGE).nullable().optional(),
  tools: z.array(TemplateTool).max(MAX_TOOLS).nullable().optional(),
  retention_days: retentionDays,
  teams: givenShares(TEAM_ROLES, 'editor').nullable().optional(),
})
export type TemplatePatch = z.output<typeof TemplatePatch>

export const templateList = defineList({
  id: 'template_id',
  search: ['name', 'greeting'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: '-created_at',
  filters: { owner_id: anyId('usr', 'Only templates of this owner') },
})
