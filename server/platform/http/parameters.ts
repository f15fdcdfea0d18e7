import type { FastifyRequest } from 'fastify'
import { problem } from '../errors.ts'
import { fromWire, type Prefix } from '../ids.ts'

/** The id prefixes of path parameters. A parameter that is not listed is plain text that the verb checks. */
const prefixOf: Record<string, Prefix> = {
  company_id: 'co',
  team_id: 'team',
  subscription_id: 'sub',
  notification_id: 'ntf',
  presence_id: 'prs',
  workspace_id: 'ws',
  user_id: 'usr',
  key_id: 'key',
  passkey_id: 'psk',
  session_id: 'ses',
  workflow_id: 'wf',
  version_id: 'wfv',
  trigger_id: 'trg',
  comment_id: 'cmt',
  note_id: 'note',
  answer_id: 'can',
  grant_id: 'ogr',
  identity_id: 'chid',
  execution_id: 'exe',
  request_id: 'apr',
  clarification_id: 'clr',
  dataset_id: 'ds',
  connection_id: 'conn',
  credential_id: 'cred',
  destination_id: 'dest',
  schedule_id: 'sch',
  bulk_id: 'bulk',
  delivery_id: 'dlv',
  source_id: 'src',
  job_id: 'job',
  run_id: 'run',
  suite_id: 'suite',
  thread_id: 'thr',
  audio_id: 'aud',
  file_id: 'file',
  knowledge_id: 'kb',
  document_id: 'doc',
  replay_id: 'rpl',
  rule_id: 'alr',
  template_id: 'tmpl',
  config_id: 'chan',
  payment_method_id: 'pm',
  setup_intent_id: 'seti',
  plan_id: 'plan',
  invoice_id: 'inv',
  version_a: 'wfv',
  version_b: 'wfv',
  invitation_id: 'ivt',
}

const slug = /^[a-z][a-z0-9-]{0,62}$/

/**
 * Converts ids to uuids. An ill-formed id is not found, like an unknown one, and so is text with a NUL, which PostgreSQL
 * does not store. The slug of a system workflow is accepted as a workflow id.
 */
export function parseParameters(path: string, given: Record<string, string>): Record<string, string> {
  const parsed: Record<string, string> = {}
  for (const [parameter, text] of Object.entries(given)) {
    const prefix = parameter === 'token_id' ? (path.includes('/embed-tokens') ? 'emb' : 'whk') : prefixOf[parameter]
    if (prefix === undefined) {
      if (text.includes('\0')) throw problem('not_found')
      parsed[parameter] = text
      continue
    }
    const uuid = fromWire(prefix, text) ?? (parameter === 'workflow_id' && slug.test(text) ? text : undefined)
    if (uuid === undefined) throw problem('not_found')
    parsed[parameter] = uuid
  }
  return parsed
}

/** As above, but only once per request, because the code that identifies a token also needs the parameters. */
export function parametersOf(path: string, request: FastifyRequest): Record<string, string> {
  request.parameters ??= parseParameters(path, request.params as Record<string, string>)
  return request.parameters
}
