import { z } from 'zod'
import { algorithms, encodings, hasTimestamp, presetNames } from '#platform/auth/signatures'
import { id, name, timestamp, timestampIn, wire } from '#platform/http/schema'

// How a webhook token is called. `bearer` tokens start the workflow at its own address; all others are called at
// /api/webhooks/in/….

export const authKinds = ['bearer', 'url', 'basic', 'hmac'] as const

const headerName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header')

const Hmac = z
  .strictObject({
    kind: z.literal('hmac'),
    preset: z.enum(presetNames).describe('Who signs: a known sender, Standard Webhooks, or what the other fields say'),
    header: headerName.optional().describe('The header with the signature; `custom` needs it'),
    algorithm: z.enum(algorithms).optional().describe('Of `custom`; default sha256'),
    encoding: z.enum(encodings).optional().describe('Of `custom`; default hex'),
    prefix: z.string().max(50).optional().describe('Of `custom`: the text before the signature, such as `sha256=`'),
    tolerance_s: z
      .number()
      .int()
      .min(1)
      .max(3600)
      .optional()
      .describe('How old a signed request may be; default 300. Only stripe, slack and standard sign a time'),
  })
  .superRefine((auth, context) => {
    const refuse = (field: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [field], message })
    }
    if (auth.preset === 'custom' && auth.header === undefined) refuse('header', 'is required with the preset custom')
    if (auth.preset !== 'custom')
      for (const field of ['header', 'algorithm', 'encoding', 'prefix'] as const)
        if (auth[field] !== undefined) refuse(field, 'is set by the preset; only custom takes it')
    if (auth.tolerance_s !== undefined && !hasTimestamp(auth.preset))
      refuse('tolerance_s', `does not apply: ${auth.preset} signs no time`)
  })

const AuthObject = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('bearer') }),
  z.strictObject({ kind: z.literal('url') }),
  z.strictObject({
    kind: z.literal('basic'),
    username: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[\x21-\x39\x3b-\x7e]+$/, 'must be printable ASCII without a colon')
      .default('heddle'),
  }),
  Hmac,
])

const { oneOf: authObjects = [] } = z.toJSONSchema(AuthObject, { io: 'input' })
const plainKind = { type: 'string', enum: ['bearer', 'url', 'basic'], description: 'Like an object with this `kind`' }
/** The kind may also be given as a plain string. */
const AuthIn = z
  .preprocess((value) => (typeof value === 'string' ? { kind: value } : value), AuthObject)
  .register(wire, { schema: { oneOf: [...authObjects, plainKind] } })
export type WebhookAuth = z.output<typeof AuthObject>

const AuthOut = z.object({
  kind: z.enum(authKinds),
  username: z.string().optional(),
  preset: z.enum(presetNames).optional(),
  header: z.string().optional(),
  algorithm: z.enum(algorithms).optional(),
  encoding: z.enum(encodings).optional(),
  prefix: z.string().optional(),
  tolerance_s: z.number().optional(),
})

export const webhookMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const Methods = z
  .array(z.enum(webhookMethods))
  .min(1)
  .max(webhookMethods.length)
  .transform((methods) => webhookMethods.filter((method) => methods.includes(method)))

/** The expression is checked when it is saved. It can use `input`. */
const Dedupe = z.strictObject({
  from: z
    .union([headerName, z.strictObject({ $cel: z.string().min(1).max(2_000) })])
    .describe('The header with the id of the delivery, or an expression over `input` that gives it'),
  window_s: z
    .number()
    .int()
    .min(1)
    .max(24 * 3600)
    .default(24 * 3600)
    .describe('How long a delivery is remembered'),
})
export const challenges = ['slack', 'meta', 'microsoft', 'dropbox'] as const
const Challenge = z.enum(challenges)
const InputMode = z.enum(['body', 'request'])
const Respond = z.enum(['accepted', 'result', 'node'])
const RespondTimeout = z.number().int().min(1).max(60)

const Secret = z
  .string()
  .min(8)
  .max(500)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')

export const WebhookToken = z
  .object({
    token_id: id('whk'),
    workflow_id: id('wf'),
    name: z.string().nullable(),
    prefix: z.string(),
    enabled: z.boolean(),
    expires_at: timestamp().nullable(),
    last_used_at: timestamp().nullable(),
    created_at: timestamp(),
    auth: AuthOut.describe('How a caller proves that it may call'),
    url: z
      .string()
      .nullable()
      .describe(
        'The address at which it is called. Of a `url` token only the first response contains it, because its secret is part of it; null afterwards',
      ),
    secret_set: z.boolean().describe('Whether a secret is stored; `basic` and `hmac` refuse every call without one'),
    methods: z.array(z.enum(webhookMethods)),
    input: InputMode.describe('What the workflow gets: the body, or the whole request without its credentials'),
    respond: Respond.describe('Answer at once, with the results, or with what an `http.respond` node says'),
    respond_timeout_s: z.number().int().describe('How long a caller waits for that; then 504'),
    challenge: Challenge.nullable().describe('Whose question about the address is answered by itself'),
    dedupe: z
      .object({ from: z.union([z.string(), z.object({ $cel: z.string() })]), window_s: z.number().int() })
      .nullable()
      .describe('How a repeated delivery is known: it gets the answer of the first'),
  })
  .meta({ id: 'WebhookToken' })
export type WebhookToken = z.input<typeof WebhookToken>

/** A new token with its secret, which only the response to its creation shows. */
export const WebhookTokenMade = WebhookToken.extend({
  token: z.string().describe('The secret of `bearer` and `url`; for the others the last part of the address'),
  secret: z.string().optional().describe('The password or the key for signatures, if the service created it'),
}).meta({ id: 'WebhookTokenMade' })

/** Settings of tokens that have their own address. */
const options = {
  methods: Methods.optional().describe('Default POST'),
  input: InputMode.optional().describe('Default body'),
  respond: Respond.optional().describe('Default accepted'),
  respond_timeout_s: RespondTimeout.optional().describe('Default 30'),
  challenge: Challenge.nullable().optional(),
  dedupe: Dedupe.nullable().optional(),
}

export const NewWebhookToken = z.strictObject({
  name: name().nullable().optional(),
  expires_at: timestampIn().nullable().optional(),
  auth: AuthIn.optional(),
  secret: Secret.optional().describe(
    'The password of `basic`, or the key for signatures of `hmac`; never returned. If it is left out, the service creates one, except for stripe, slack and shopify, which create their own',
  ),
  ...options,
})
export type NewWebhookToken = z.output<typeof NewWebhookToken>

export const WebhookTokenPatch = z.strictObject({
  name: name().nullable().optional(),
  enabled: z.boolean().optional(),
  secret: Secret.optional(),
  ...options,
})
export type WebhookTokenPatch = z.output<typeof WebhookTokenPatch>
export type WebhookOptions = Pick<WebhookTokenPatch, keyof typeof options>
