import { z } from 'zod'
import { defineList, flag } from '#platform/http/list'
import { id, name, timestamp } from '#platform/http/schema'

// Tokens of pages that show a workflow or a template, and the common parts of all lists of tokens.

export const EmbedToken = z
  .object({
    token_id: id('emb'),
    workflow_id: id('wf').nullable(),
    template_id: id('tmpl').nullable(),
    name: z.string().nullable(),
    prefix: z.string(),
    allowed_origins: z.array(z.string()),
    require_origin: z.boolean(),
    enabled: z.boolean(),
    last_used_at: timestamp().nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'EmbedToken' })
export type EmbedToken = z.input<typeof EmbedToken>
/** Reading a single embed token returns the token itself again. */
export const EmbedTokenShown = EmbedToken.extend({
  token: z
    .string()
    .nullable()
    .describe('It is part of public pages, so it is not secret; null if an older release created it')
    .meta({ 'x-heddle-extension': true }),
}).meta({ id: 'EmbedTokenShown' })
export type EmbedTokenShown = z.input<typeof EmbedTokenShown>
export const EmbedTokenMade = EmbedToken.extend({ token: z.string() }).meta({ id: 'EmbedTokenMade' })

/** An origin such as `https://shop.example`, with a port if it is not the default; never a path or a wildcard. */
const origin = z
  .string()
  .max(300)
  .transform((text, context) => {
    if (
      URL.canParse(text) &&
      /^https?:$/.test(new URL(text).protocol) &&
      new URL(text).pathname === '/' &&
      !text.includes('*') &&
      !/[?#@]/.test(text)
    )
      return new URL(text).origin
    context.addIssue({ code: 'custom', message: 'must be an origin such as https://shop.example' })
    return z.NEVER
  })
export const origins = z.array(origin).max(100)

export const NewEmbedToken = z.strictObject({
  name: name().nullable().optional(),
  allowed_origins: origins.optional(),
  require_origin: z.boolean().optional(),
})
export type NewEmbedToken = z.output<typeof NewEmbedToken>
export const EmbedTokenPatch = z.strictObject({
  name: name().nullable().optional(),
  allowed_origins: origins.nullable().optional(),
  require_origin: z.boolean().optional(),
  enabled: z.boolean().optional(),
})
export type EmbedTokenPatch = z.output<typeof EmbedTokenPatch>

export const tokenList = defineList({
  id: 'token_id',
  search: ['name', 'prefix'],
  sort: { created_at: 'id', name: 'text', last_used_at: 'time' },
  order: '-created_at',
  filters: { enabled: flag('Only those that are enabled, or only those that are not') },
})
