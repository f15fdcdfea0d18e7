import { z } from 'zod'
import { NewShare } from '#areas/teams/personal-shares'
import { anyId, anyOf, defineList } from '#platform/http/list'
import { id, jsonObject, name, reference, timestamp, timestampIn } from '#platform/http/schema'
import { canonicalHost, MAX_HOSTS } from './hosts.ts'
import { credentialKinds } from './kinds.ts'

export const credentialStates = ['ready', 'needs_authorization', 'needs_reconnect', 'revoked'] as const
export type CredentialState = (typeof credentialStates)[number]

const kind = z.enum(credentialKinds)
const service = z.string().max(60)

export const CredentialTest = z
  .object({ ok: z.boolean(), message: z.string(), tested_at: timestamp() })
  .meta({ id: 'CredentialTest' })
export type CredentialTest = z.input<typeof CredentialTest>

const Share = z.object({
  kind: z.enum(['user', 'team', 'workspace']),
  id: z.string().optional().describe('Of the person or the team'),
  role: z.enum(['use', 'edit']),
})

export const Credential = z
  .object({
    credential_id: id('cred'),
    name: z.string(),
    kind,
    service: service.nullable(),
    hosts: z.array(z.string()),
    config: jsonObject(),
    state: z.enum(credentialStates),
    problem: z.string().nullable(),
    owner_id: id('usr').nullable(),
    shared: z.array(Share),
    /** What the caller may do with the credential. `manage`: see and revoke it, as an owner of the workspace. */
    role: z.enum(['owner', 'edit', 'use', 'see', 'manage']),
    expires_at: timestamp().nullable(),
    last_used_at: timestamp().nullable(),
    last_test: CredentialTest.nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Credential' })
export type Credential = z.input<typeof Credential>

const hosts = z
  .array(
    z
      .string()
      .max(300)
      .transform((text, ctx) => {
        const host = canonicalHost(text)
        if (host !== undefined) return host
        ctx.addIssue('must be a host name such as api.example.com, or *.example.com')
        return z.NEVER
      }),
  )
  .min(1)
  .max(MAX_HOSTS)

const secrets = z.record(z.string().max(64), z.string().max(65_536))

const shares = z.array(NewShare).max(200)

export const NewCredential = z
  .strictObject({
    name: name(),
    kind: kind.optional(),
    service: service.optional(),
    hosts: hosts.optional(),
    config: jsonObject().optional(),
    secrets: secrets.optional(),
    shared: shares.optional(),
    expires_at: timestampIn().nullish(),
  })
  .meta({ id: 'NewCredential' })
export type NewCredential = z.output<typeof NewCredential>

export const CredentialPatch = z
  .strictObject({
    name: name().optional(),
    hosts: hosts.optional(),
    config: jsonObject().optional(),
    secrets: secrets.optional(),
    shared: shares.optional(),
    owner_id: reference('usr').optional(),
    expires_at: timestampIn().nullish(),
  })
  .meta({ id: 'CredentialPatch' })
export type CredentialPatch = z.output<typeof CredentialPatch>

export const CredentialSecret = z
  .strictObject({ secrets, expires_at: timestampIn().nullish() })
  .meta({ id: 'CredentialSecret' })
export type CredentialSecret = z.output<typeof CredentialSecret>

export const TestRequest = z
  .strictObject({
    /** The address to call with the credential. By default the test call of the service, or of its first host. */
    url: z.string().max(2_000).optional(),
  })
  .meta({ id: 'CredentialTestRequest' })

export const CredentialUsage = z
  .object({
    workflows: z.array(
      z.object({
        workflow_id: id('wf'),
        name: z.string(),
        versions: z.array(z.object({ version_id: id('wfv'), number: z.int(), active: z.boolean() })),
      }),
    ),
    jobs: z.array(z.object({ job_id: id('job'), name: z.string() })),
    templates: z.array(z.object({ template_id: id('tmpl'), name: z.string() })),
  })
  .meta({ id: 'CredentialUsage' })
export type CredentialUsage = z.input<typeof CredentialUsage>

export const Authorization = z.object({ url: z.string() }).meta({ id: 'CredentialAuthorization' })

export const CredentialKinds = z
  .object({
    kinds: z.array(
      z.object({
        kind,
        title: z.string(),
        description: z.string(),
        config_schema: jsonObject(),
        secret_schema: jsonObject(),
      }),
    ),
    services: z.array(
      z.object({
        service,
        title: z.string(),
        kind,
        hosts: z.array(z.string()),
        config: jsonObject(),
        secret_schema: jsonObject(),
        help: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'CredentialKinds' })

export const credentialList = defineList({
  id: 'credential_id',
  search: ['name', 'service'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text', last_used_at: 'time', expires_at: 'time' },
  order: '-created_at',
  filters: {
    kind: anyOf(credentialKinds),
    state: anyOf(credentialStates),
    owner_id: anyId('usr', 'Only those of this owner'),
  },
})

export const credentialQuery = credentialList.query.extend({
  /** Only credentials that the caller may use. */
  usable: z.enum(['true', 'false']).optional(),
})

/** Other parameters from the service are ignored. */
export const ReturnedQuery = z.looseObject({
  state: z.string().max(500).optional(),
  code: z.string().max(8_000).optional(),
  error: z.string().max(500).optional(),
})

export const WorkspaceModel = z
  .object({
    credential_id: id('cred').nullable(),
    fallback_credential_id: id('cred').nullable(),
    source: z.enum(['workspace', 'installation', 'none']).describe('The credential of the default model'),
    embedding_model: z
      .string()
      .nullable()
      .describe('The embedding model of the installation, which knowledge bases may use; null if there is none'),
  })
  .meta({ id: 'WorkspaceModel' })

export const NewWorkspaceModel = z
  .strictObject({
    credential_id: reference('cred').nullable(),
    fallback_credential_id: reference('cred').nullish(),
  })
  .meta({ id: 'NewWorkspaceModel' })
