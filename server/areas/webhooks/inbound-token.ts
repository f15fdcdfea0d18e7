import { webhookSecretPlace } from '#areas/workflows/webhook-tokens'
import type { FlowSettings } from '#engine/flow/rules'
import type { Json, JsonObject } from '#model/definition'
import { problem } from '#platform/errors'
import type { Vault } from '#platform/secrets'

/** A bearer token, as the lookup returns it. */
export type WebhookToken = {
  token_id: string
  org_id: string
  workspace_id: string
  workflow_id: string
  enabled: boolean
  expired: boolean
  version_id: string | null
  inputs: Json | null
  settings: FlowSettings & { timeout_s?: number }
  created_by: string | null
  principal_id: string | null
  activation_required: boolean
}

/** A token with its own address, as the lookup returns it. */
export type InboundToken = WebhookToken & {
  auth: 'url' | 'basic' | 'hmac'
  auth_config: JsonObject
  secret: Buffer | null
  methods: string[]
  input: 'body' | 'request'
  respond: 'accepted' | 'result' | 'node'
  respond_timeout_s: number
  challenge: string | null
  dedupe: { from: string | { $cel: string }; window_s: number } | null
}

/** Throws if no secret is stored yet: a sender may show the secret only after it knows the address. */
export function secretOf(vault: Vault, { workspace_id, token_id, auth, secret }: InboundToken): string {
  if (secret === null)
    throw problem('bad_signature', 'The owner of the workflow must store the secret of this token first.')
  return vault.open(webhookSecretPlace(workspace_id, token_id, auth), secret)
}
