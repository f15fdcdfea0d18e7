import { NodeFailure, type NodeKind } from '#engine/node'
import { type AnyKind, isControl } from '#engine/nodes/kind'
import type { NodeTable } from '#engine/nodes/table'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { type Mail, MailFailure, type MailMessage } from '#providers/mail/index'
import { type Allowances, meansExceeded } from './allowances.ts'
import type { MeansQuota } from './schema.ts'

// Holds what tenants use of the operator's means against their quotas: at the provider for mails, whichever way they leave, and at
// the node for what is known there.

/** Mails of the service itself name no workspace and are not counted here. */
export function meterMail(deps: {
  mail: Mail
  db: Database
  allowances: Allowances
  config: Pick<Config, 'SMTP_URL'>
}): Mail {
  const { mail, db, allowances, config } = deps
  const take = async (workspaceId: string, { to }: MailMessage): Promise<void> => {
    const { rows } = await db.appPool.query<{ is_trusted: boolean; has_verified_owner: boolean; outside: number }>({
      name: 'mail_standing',
      text: 'select is_trusted, has_verified_owner, outside from mail_standing($1, $2)',
      values: [workspaceId, to],
    })
    const { is_trusted, has_verified_owner, outside } = rows[0]!
    if (outside > 0 && !is_trusted) {
      // An address that nobody has proven sends nothing to strangers.
      if (config.SMTP_URL !== null && !has_verified_owner) throw meansExceeded('outside_recipients_per_day', 0)
      await allowances.spend(workspaceId, 'outside_recipients_per_day', outside)
    }
    await allowances.spend(workspaceId, 'mails_per_minute', to.length)
  }
  return {
    ...mail,
    async send(message) {
      if (message.workspaceId !== null)
        await take(message.workspaceId, message).catch((error: unknown) => {
          if (!isProblem(error, 'quota_exceeded')) throw error
          throw new MailFailure('quota_exceeded', error.message, error)
        })
      return mail.send(message)
    },
  }
}

/** Kinds of nodes that call addresses of the tenant's choice. */
const CALLS_OUT = new Set(['http.request', 'mcp.call', 'service.call'])

type Call = Parameters<NodeKind['run']>[0]

const refusedAsNode = async (work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    if (!isProblem(error, 'quota_exceeded')) throw error
    throw new NodeFailure('quota_exceeded', error.message, { retryable: false, nothingDone: true })
  })

/** A model of the tenant's own is theirs to pay. */
const usesOperatorsModel = ({ descriptor }: NodeKind, { args }: Call): boolean =>
  descriptor.metered === true && typeof args.credential_id !== 'string'

const TOKENS: MeansQuota[] = ['model_tokens_per_minute', 'model_tokens_per_month']

function meter(kind: AnyKind, allowances: Allowances): AnyKind {
  if (isControl(kind)) return kind
  const callsOut = CALLS_OUT.has(kind.descriptor.type)
  if (!callsOut && kind.descriptor.metered !== true) return kind
  return {
    ...kind,
    async run(call) {
      const { workspaceId } = call
      if (callsOut) await refusedAsNode(allowances.spend(workspaceId, 'outgoing_requests_per_minute'))
      if (!usesOperatorsModel(kind, call)) return kind.run(call)
      for (const quota of TOKENS) await refusedAsNode(allowances.check(workspaceId, quota))
      const result = await kind.run(call)
      const tokens = Number(result.usage?.input_tokens ?? 0) + Number(result.usage?.output_tokens ?? 0)
      for (const quota of TOKENS) allowances.add(workspaceId, quota, tokens)
      return result
    },
  }
}

export const meterNodes = (nodes: NodeTable, allowances: Allowances): NodeTable =>
  new Map([...nodes].map(([type, kind]) => [type, meter(kind, allowances)]))
