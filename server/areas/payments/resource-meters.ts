import { NodeFailure } from '#engine/node'
import { type AnyKind, isControl } from '#engine/nodes/kind'
import type { NodeTable } from '#engine/nodes/table'
import type { Config } from '#platform/config'
import type { Database } from '#platform/db/pool'
import { isProblem, problem } from '#platform/errors'
import type { RequestVectors } from '#providers/llm/embeddings'
import type { LanguageModel, Usage } from '#providers/llm/index'
import { ModelProblem } from '#providers/llm/problem'
import { type Mail, MailFailure, type MailMessage } from '#providers/mail/index'
import type { Allowances } from './allowances.ts'
import type { ResourceQuota } from './plan-schema.ts'

// Enforces the quotas for the operator's resources: at the mail provider for all mails, and at the node for other
// resources.

const unverifiedOwner = () =>
  problem(
    'quota_exceeded',
    'This workspace cannot send mail to people outside it: first one of its owners must confirm their e-mail address, or an operator must trust the workspace.',
  )

/** Counts mails of workspaces. Mails of the service itself name no workspace and are not counted here. */
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
      // A workspace whose owner has no verified address cannot send mail to strangers.
      if (config.SMTP_URL !== null && !has_verified_owner) throw unverifiedOwner()
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

/** Node types that call addresses chosen by the tenant. */
const CALLS_OUT = new Set(['http.request', 'mcp.call', 'service.call'])

const refusedAsNode = async (work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    if (!isProblem(error, 'quota_exceeded')) throw error
    throw new NodeFailure('quota_exceeded', error.message, { retryable: false, nothingDone: true })
  })

const TOKENS: ResourceQuota[] = ['model_tokens_per_minute', 'model_tokens_per_month']

async function checkTokens(workspaceId: string, allowances: Allowances): Promise<void> {
  for (const quota of TOKENS)
    await allowances.check(workspaceId, quota).catch((error: unknown) => {
      if (!isProblem(error, 'quota_exceeded')) throw error
      throw new ModelProblem('quota_exceeded', error.message)
    })
}

/**
 * Wraps the installation's model to count the tokens of one workspace. Tenants pay for their own models, which are not
 * counted.
 */
export function meterModel(llm: LanguageModel, workspaceId: string, allowances: Allowances): LanguageModel {
  const counted = async <T extends { usage: Usage }>(ask: () => Promise<T>): Promise<T> => {
    await checkTokens(workspaceId, allowances)
    const answer = await ask()
    for (const quota of TOKENS)
      allowances.add(workspaceId, quota, answer.usage.input_tokens + answer.usage.output_tokens)
    return answer
  }
  return {
    ...llm,
    generate: (prompt) => counted(() => llm.generate(prompt)),
    generateObject: (prompt) => counted(() => llm.generateObject(prompt)),
    turn: (prompt) => counted(() => llm.turn(prompt)),
  }
}

const CHARACTERS_A_TOKEN = 4

/** Wraps the installation's embedding model to count the tokens of one workspace. */
export function meterEmbeddings(ask: RequestVectors, workspaceId: string, allowances: Allowances): RequestVectors {
  return async (texts, signal) => {
    await checkTokens(workspaceId, allowances)
    const answer = await ask(texts, signal)
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    for (const quota of TOKENS)
      allowances.add(workspaceId, quota, answer.tokens ?? Math.ceil(characters / CHARACTERS_A_TOKEN))
    return answer
  }
}

function meter(kind: AnyKind, allowances: Allowances): AnyKind {
  if (isControl(kind)) return kind
  if (!CALLS_OUT.has(kind.descriptor.type)) return kind
  return {
    ...kind,
    async run(call) {
      await refusedAsNode(allowances.spend(call.workspaceId, 'outgoing_requests_per_minute'))
      return kind.run(call)
    },
  }
}

export const meterNodes = (nodes: NodeTable, allowances: Allowances): NodeTable =>
  new Map([...nodes].map(([type, kind]) => [type, meter(kind, allowances)]))
