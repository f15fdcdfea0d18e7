import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import type { AuthField } from '../openapi/index.ts'
import type { PieceAction, PieceAuth, PieceForms, PieceTrigger } from './index.ts'
import { receivesSecret } from './secret-pieces.ts'

// Converts the description of a piece to forms. The description is untrusted: every part is checked, and parts that
// cannot be understood are left out.

const MAX_PARTS = 400
const MAX_TEXT = 1_000
const MAX_OPTIONS = 500

const textOf = (value: Json | undefined, most = MAX_TEXT): string =>
  typeof value === 'string' ? value.replaceAll('\0', '').trim().slice(0, most) : ''

const FILE: JsonObject = {
  anyOf: [
    { type: 'string', title: 'Address' },
    {
      type: 'object',
      title: 'File',
      properties: { $file: { type: 'object', properties: { file_id: { type: 'string' } }, required: ['file_id'] } },
      required: ['$file'],
      additionalProperties: false,
    },
  ],
}

const isScalar = (value: Json): boolean => ['string', 'number', 'boolean'].includes(typeof value)

function staticOptions({ options }: JsonObject): { label: string; value: Json }[] {
  const listed = isObject(options) ? options.options : undefined
  return (Array.isArray(listed) ? listed : []).slice(0, MAX_OPTIONS).flatMap((option) => {
    if (!isObject(option) || option.value === undefined) return []
    return [{ label: textOf(option.label, 200), value: option.value }]
  })
}

function chosen(prop: JsonObject): JsonObject {
  const values = staticOptions(prop).map(({ value }) => value)
  return values.length > 0 && values.every(isScalar) ? { enum: values } : {}
}

/**
 * Returns the schema of one field. Undefined for a field that only contains an explanation. `where` identifies the
 * field's choices.
 */
function fieldSchema(prop: JsonObject, where: string): JsonObject | undefined {
  switch (prop.type) {
    case 'MARKDOWN':
      return undefined
    case 'LONG_TEXT':
      return { type: 'string', 'x-editor': 'text' }
    case 'SHORT_TEXT':
    case 'SECRET_TEXT':
    case 'DATE_TIME':
    case 'COLOR':
      return { type: 'string' }
    case 'NUMBER':
      return { type: 'number' }
    case 'CHECKBOX':
      return { type: 'boolean' }
    case 'FILE':
      return FILE
    case 'OBJECT':
      return { type: 'object' }
    case 'ARRAY':
      return isObject(prop.properties)
        ? { type: 'array', items: objectSchema(prop.properties, where) }
        : { type: 'array', items: {} }
    case 'STATIC_DROPDOWN':
      return chosen(prop)
    case 'STATIC_MULTI_SELECT_DROPDOWN':
      return { type: 'array', items: chosen(prop) }
    case 'DROPDOWN':
      return { 'x-options': where }
    case 'MULTI_SELECT_DROPDOWN':
      return { type: 'array', items: {}, 'x-options': where }
    case 'DYNAMIC':
      return { type: 'object', 'x-options': where }
    default:
      return {}
  }
}

/** Returns the schema of the fields. Also used for fields that a piece computes while a form is filled in. */
export function objectSchema(props: JsonObject, part: string): JsonObject {
  const properties: JsonObject = {}
  const required: string[] = []
  for (const [name, prop] of Object.entries(props).slice(0, MAX_PARTS)) {
    if (!isObject(prop) || name === '__proto__' || name === 'auth') continue
    const schema = fieldSchema(prop, `${part}.${name}`)
    if (schema === undefined) continue
    const title = textOf(prop.displayName, 120)
    const description = textOf(prop.description)
    const { defaultValue } = prop
    properties[name] = {
      ...schema,
      title: title || name,
      ...(description && { description }),
      ...(defaultValue !== undefined && defaultValue !== null && isScalar(defaultValue) && { default: defaultValue }),
      ...(Array.isArray(prop.refreshers) &&
        schema['x-options'] !== undefined && {
          'x-after': prop.refreshers.filter((after) => typeof after === 'string' && after !== 'auth'),
        }),
    }
    if (prop.required === true) required.push(name)
  }
  return { type: 'object', properties, required, additionalProperties: false }
}

const listOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

function effectOf({ classification, aiMetadata }: JsonObject): PieceAction['effect'] {
  if (typeof classification === 'string' && /^(READ|SEARCH|GET|LIST)/i.test(classification)) return 'read'
  return isObject(aiMetadata) && aiMetadata.idempotent === true ? 'idempotent' : 'write'
}

/** The start of an action's name says whether a call may be repeated, so no look-up is needed. */
const PREFIX = { read: 'get', idempotent: 'put', write: 'call' } as const

const wordsOf = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 90)

function uniqueName(taken: Set<string>, base: string): string {
  let found = base
  for (let number = 2; taken.has(found); number += 1) found = `${base}_${number}`
  taken.add(found)
  return found
}

function partOf(about: JsonObject, part: string) {
  const title = textOf(about.displayName, 120) || part
  return {
    title,
    description: textOf(about.description) || title,
    args_schema: objectSchema(isObject(about.props) ? about.props : {}, part),
    part,
  }
}

function actionsOf(described: JsonObject): PieceAction[] {
  const taken = new Set<string>()
  return listOf(described.actions)
    .slice(0, MAX_PARTS)
    .flatMap((about) => {
      const part = textOf(about.name, 120)
      if (part === '') return []
      const effect = effectOf(about)
      return [
        { name: uniqueName(taken, `${PREFIX[effect]}_${wordsOf(part) || 'action'}`), effect, ...partOf(about, part) },
      ]
    })
}

/**
 * Returns the cron expression for renewing a trigger's registration, because some registrations expire at the vendor.
 */
function renewOf({ renewConfiguration: renewal }: JsonObject): string | null {
  if (!isObject(renewal) || renewal.strategy !== 'CRON') return null
  return textOf(renewal.cronExpression, 200) || null
}

function triggersOf(described: JsonObject): { triggers: PieceTrigger[]; notes: PieceForms['notes'] } {
  const taken = new Set<string>()
  const notes: PieceForms['notes'] = []
  const triggers: PieceTrigger[] = []
  for (const about of listOf(described.triggers).slice(0, MAX_PARTS)) {
    const part = textOf(about.name, 120)
    if (part === '') continue
    const kind = about.type === 'POLLING' ? 'polling' : about.type === 'WEBHOOK' ? 'webhook' : undefined
    if (kind === undefined) {
      notes.push({ path: part, message: 'the trigger needs its own application at the vendor' })
      continue
    }
    const handshake = isObject(about.handshakeConfiguration) ? about.handshakeConfiguration : null
    const name = uniqueName(taken, wordsOf(part) || 'trigger')
    triggers.push({ name, kind, handshake, renew: renewOf(about), ...partOf(about, part) })
  }
  return { triggers, notes }
}

function fieldOf(name: string, prop: JsonObject): AuthField[] {
  if (prop.type === 'MARKDOWN') return []
  const options = staticOptions(prop)
  return [
    {
      name,
      title: textOf(prop.displayName, 120) || name,
      description: textOf(prop.description),
      secret: prop.type === 'SECRET_TEXT',
      required: prop.required === true,
      ...(prop.defaultValue !== undefined && prop.defaultValue !== null && { default: prop.defaultValue }),
      ...(options.length > 0 && { options }),
    },
  ]
}

const fieldsOf = (props: Json | undefined): AuthField[] =>
  isObject(props) ? Object.entries(props).flatMap(([name, prop]) => (isObject(prop) ? fieldOf(name, prop) : [])) : []

const secretField = (name: string, title: string, description = ''): AuthField => ({
  name,
  title,
  description,
  secret: true,
  required: true,
})

const addressOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && /^https:\/\//.test(value) ? value.slice(0, 2_000) : undefined

function oauthOf(about: JsonObject, title: string): PieceAuth {
  const authorizeUrl = addressOf(about.authUrl)
  const tokenUrl = addressOf(about.tokenUrl)
  const scopes = (Array.isArray(about.scope) ? about.scope : []).filter((scope) => typeof scope === 'string')
  const extra = isObject(about.extra) ? about.extra : {}
  const client = about.grantType === 'client_credentials'
  return {
    kind: client ? 'oauth2_client' : 'oauth2_code',
    title,
    config: {
      ...(authorizeUrl !== undefined && !client && { authorize_url: authorizeUrl }),
      ...(tokenUrl !== undefined && { token_url: tokenUrl }),
      ...(scopes.length > 0 && { scopes }),
      client_auth: about.authorizationMethod === 'HEADER' ? 'basic' : 'body',
      ...(Object.keys(extra).length > 0 && !client && { authorize_parameters: extra }),
    },
    fields: fieldsOf(about.props),
    can_test: about.canTest === true,
  }
}

function authOf(service: string, about: JsonObject): PieceAuth[] {
  const { type } = about
  const title = textOf(about.displayName, 120) || 'Connection'
  const own = (fields: AuthField[]): PieceAuth[] => [
    { kind: 'piece', title, config: { service, auth: String(type) }, fields, can_test: about.canTest === true },
  ]
  switch (type) {
    case 'SECRET_TEXT':
      return own([secretField('value', title, textOf(about.description))])
    case 'BASIC_AUTH': {
      const named = (field: Json | undefined, fallback: string): string =>
        (isObject(field) && textOf(field.displayName, 120)) || fallback
      const username = { ...secretField('username', named(about.username, 'User name')), secret: false }
      return own([username, secretField('password', named(about.password, 'Password'))])
    }
    case 'CUSTOM_AUTH':
      return own(fieldsOf(about.props))
    case 'OAUTH2':
      return [oauthOf(about, title)]
    default:
      return []
  }
}

export function formsOf(piece: string, service: string, described: JsonObject): PieceForms {
  const auth = listOf(described.auth).flatMap((about) => authOf(service, about))
  const actions = actionsOf(described)
  const { triggers, notes } = triggersOf(described)
  const title = textOf(described.displayName, 100) || piece
  return {
    title,
    description: textOf(described.description, 500) || title,
    auth: auth.map((one) => ({
      ...one,
      ...(receivesSecret(piece) && { title: `${one.title} (the code of this piece receives the secret itself)` }),
    })),
    credential_required: listOf(described.auth).some(({ required }) => required === true),
    actions,
    triggers,
    notes,
  }
}
