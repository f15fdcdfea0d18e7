import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { validateJson } from '#model/json-schema'
import { type FieldError, invalid } from '#platform/errors'
import type { Secrets } from './box.ts'
import { canonicalHost, canonicalHosts } from './hosts.ts'
import { addressOfModel, type CredentialKind, kindForms } from './kinds.ts'
import { findPreset, type Preset } from './presets.ts'
import type { NewCredential } from './schema.ts'

// The checks of a credential before it is stored.

export type Draft = {
  kind: CredentialKind
  service: string | null
  hosts: string[]
  config: JsonObject
}

const fieldErrors = (schema: JsonObject, value: unknown, path: string): FieldError[] =>
  validateJson(schema, value as JsonObject).map((issue) => ({ path: path + issue.path, message: issue.message }))

/** Returns the fields of the kind, or of the service if it has its own fields. */
export function secretSchemaOf(kind: CredentialKind, preset: Preset | undefined): JsonObject {
  const schema = kindForms[kind].secret_schema
  if (kind !== 'service' || preset?.fields === undefined) return schema
  const value = schema.additionalProperties as JsonObject
  return {
    type: 'object',
    properties: Object.fromEntries(preset.fields.map(({ name, title }) => [name, { ...value, title }])),
    required: preset.fields.map(({ name }) => name),
    additionalProperties: false,
  }
}

/** Fills missing settings from the preset of the service, and the host of a language model from its address. */
export function completeDraft(input: NewCredential): Draft {
  const preset = input.service === undefined ? undefined : findPreset(input.service)
  if (input.service !== undefined && preset === undefined)
    throw invalid([{ path: '/service', message: 'is not a known service' }])
  const kind = input.kind ?? preset?.kind
  if (kind === undefined) throw invalid([{ path: '/kind', message: 'is required' }])
  if (preset && preset.kind !== kind)
    throw invalid([{ path: '/kind', message: `must be ${preset.kind} for this service` }])
  if (kind === 'service' && preset === undefined)
    throw invalid([{ path: '/service', message: 'is required for this kind' }])
  const config = {
    ...preset?.config,
    ...input.config,
    ...(kind === 'service' && { service: preset!.service }),
  } as JsonObject
  const hosts = input.hosts ?? usualHosts(kind, config, preset)
  if (hosts.length === 0)
    throw invalid([{ path: '/hosts', message: 'is required: list the hosts that may receive the secret' }])
  return { kind, service: preset?.service ?? null, hosts: canonicalHosts(hosts), config }
}

function usualHosts(kind: CredentialKind, config: JsonObject, preset: Preset | undefined): string[] {
  const address = kind === 'llm' ? addressOfModel(config) : null
  if (address !== null && URL.canParse(address)) return [canonicalHost(new URL(address).host) ?? '']
  if (kind === 'piece' && isObject(config.values)) return hostsIn(Object.values(config.values))
  return preset?.hosts ?? []
}

/** Returns the hosts of the addresses among the values. */
const hostsIn = (values: Json[]): string[] =>
  values.flatMap((value) => {
    if (typeof value !== 'string' || !/^https?:\/\//.test(value) || !URL.canParse(value)) return []
    return canonicalHost(new URL(value).host) ?? []
  })

export function checkConfig({ kind, config }: Draft): void {
  const errors = fieldErrors(kindForms[kind].config_schema, config, '/config')
  if (kind === 'llm' && config.provider === 'openai-compatible' && config.base_url === undefined)
    errors.push({ path: '/config/base_url', message: 'is required for this provider' })
  for (const name of ['token_url', 'authorize_url', 'base_url'])
    if (typeof config[name] === 'string' && !URL.canParse(config[name]))
      errors.push({ path: `/config/${name}`, message: 'must be an address' })
  if (errors.length > 0) throw invalid(errors)
}

export function checkSecrets({ kind, service }: Draft, secrets: Secrets | undefined): asserts secrets is Secrets {
  const preset = service === null ? undefined : findPreset(service)
  const errors = fieldErrors(secretSchemaOf(kind, preset), secrets ?? {}, '/secrets')
  if (errors.length > 0) throw invalid(errors)
}
