import type { FastifyRequest } from 'fastify'
import { recordAudit, wasAudited } from '../audit.ts'
import type { Tx } from '../db/pool.ts'
import type { Answer } from './answer.ts'
import { type Context, scopeOf } from './context.ts'
import type { AnyRoute } from './route.ts'

// Every operation that changes something writes an entry to the audit log: either the verb writes a more detailed
// entry, or this file writes one. Operations without an entry are listed here with the reason. Of a body, only the
// names of its fields are written.

const reasons: [reason: string, operations: string[]][] = [
  [
    'Executions and their journals say who began, answered and ended what; an entry for each would double the hottest writes.',
    [
      'runWorkflow',
      'callMcp',
      'tryWorkflow',
      'runSystemWorkflow',
      'triggerWebhook',
      'respondToExecution',
      'castVote',
      'answerInteraction',
      'runSuite',
      'createReplay',
      'cancelReplay',
      'runJobNow',
      'sendEvent',
      'callBackByPost',
      'receiveServiceEvent',
    ],
  ],
  [
    'Visitors and channels of other companies are no people of the workspace; their messages are kept with the conversation.',
    [
      'actOnWidgetForm',
      'chatWithWidget',
      'forgetWidgetVisitor',
      'gatherInputs',
      'receiveFromChannel',
      'respondThroughWidget',
      'respondToEmbedded',
      'speakThroughWidget',
      'transcribeThroughWidget',
      'uploadThroughWidget',
      'uploadForWorkflow',
    ],
  ],
  ['Conversation: the thread itself says who wrote what.', ['postThreadMessage', 'actOnThreadForm']],
  [
    'Changes nothing: reads, tries out or computes, or gives a ticket for a socket that ends in seconds.',
    [
      'beginPasskeySignIn',
      'createBatchTicket',
      'createConversationTicket',
      'createNotificationTicket',
      'createWorkflowTicket',
      'describeSecondFactor',
      'extractRequirements',
      'fetchOdds',
      'listServiceOptions',
      'previewServiceImport',
      'searchKnowledge',
      'speakInThread',
      'testServiceCredential',
      'transcribeInThread',
    ],
  ],
  [
    "A person's own screen: presence, read marks, saved views, the workspace a session shows.",
    [
      'deletePresence',
      'recordPresence',
      'deleteNotification',
      'deleteNotifications',
      'readNotifications',
      'updateNotification',
      'markConversationRead',
      'selectWorkspace',
      'setSavedViews',
    ],
  ],
  [
    'Names an address or a provider that nobody has proven yet; what comes of it is an entry.',
    ['forgotPassword', 'sendInteractionCode', 'beginTotp', 'beginPasskey', 'linkOidc'],
  ],
  [
    'Called by a program that nobody allowed anything yet, or for a grant whose beginning and end are entries.',
    ['registerOAuthClient', 'exchangeOAuthToken', 'revokeOAuthToken'],
  ],
  ['The provider of payments keeps its own log, and what it changes is read again.', ['receiveStripeWebhook']],
]

/** Operations that write no entry, with the reason. */
export const notAudited: ReadonlyMap<string, string> = new Map(
  reasons.flatMap(([reason, operations]) => operations.map((operation) => [operation, reason] as const)),
)

/** Reads that export complete data from the service. */
export const auditedReads: ReadonlySet<string> = new Set(['exportDataset', 'exportAuditLog', 'exportWorkflow'])

export const isAudited = ({ method, operation, access }: AnyRoute): boolean =>
  (method === 'GET' ? auditedReads.has(operation) : !notAudited.has(operation)) && access.word !== 'token'

const irregular: Record<string, string> = {
  set: 'set',
  put: 'set',
  run: 'run',
  begin: 'begun',
  take: 'taken',
  cancel: 'cancelled',
  try: 'tried',
}
const past = (verb: string): string =>
  irregular[verb] ?? (verb.endsWith('e') ? `${verb}d` : verb.endsWith('y') ? `${verb.slice(0, -1)}ied` : `${verb}ed`)

/** `createWebhookToken` → `webhook_token.created`. */
export function actionOf(operation: string): string {
  const [verb = '', ...noun] = operation.split(/(?=[A-Z])/).map((word) => word.toLowerCase())
  return `${noun.join('_') || 'service'}.${past(verb)}`
}

const TYPE_ID = /^[a-z]{2,6}_[0-9a-hjkmnp-tv-z]{26}$/
/**
 * Jobs, threads, executions and gates, which may be hidden from the owners of a workspace. The entry states what
 * happened, not to which one.
 */
const HIDDEN = /^(job|thr|msg|exe|apr|run)_/
const MAX_FIELDS = 50

function subjectOf(request: FastifyRequest, answer: Answer | null): string | undefined {
  const made = answer?.status === 201 ? (answer.headers.location?.split('/').at(-1) ?? '') : ''
  const named = Object.values(request.params as Record<string, string>)
  return [made, ...named.reverse()].find((text) => TYPE_ID.test(text) && !HIDDEN.test(text))
}

const fieldsOf = (route: AnyRoute, input: unknown): string[] =>
  typeof input === 'object' && input !== null && (route.method === 'PATCH' || route.method === 'PUT')
    ? Object.keys(input)
        .filter((field) => !route.path.includes(`:${field}`))
        .slice(0, MAX_FIELDS)
    : []

/**
 * Writes the entry after the verb, in the verb's transaction if it has one. Does nothing if the verb has written an
 * entry itself. With `ahead`, the entry is written before the verb, in its own transaction.
 */
export async function auditCall(
  ctx: Context,
  route: AnyRoute,
  request: FastifyRequest,
  input: unknown,
  answer: Answer | null,
  { ahead = false }: { ahead?: boolean } = {},
): Promise<void> {
  if (wasAudited(ctx)) return
  const subject = subjectOf(request, answer)
  const fields = fieldsOf(route, input)
  const write = (tx: Tx): Promise<void> =>
    recordAudit(ctx, tx, {
      action: actionOf(route.operation),
      ...(subject !== undefined && { subject }),
      ...(fields.length > 0 && { data: { fields } }),
    })
  if (ctx.maybeTx && !ahead) await write(ctx.maybeTx)
  else await ctx.db.tenant(scopeOf(ctx), write)
}
