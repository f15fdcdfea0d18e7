import { NodeFailure, type NodeKind } from '#engine/node'
import { fromWire, toWire } from '#platform/ids'
import { checked, fields } from './kind.ts'

/**
 * Notifies users; the notifications area implements it. `key` is the same on every attempt, and each key notifies
 * once.
 */
export type Notify = (notification: {
  workspaceId: string
  workflowId: string | null
  executionId: string
  key: string
  /** UUIDs. Null means the person who started the execution, or otherwise the owner of the workflow. */
  userIds: string[] | null
  startedBy: string | null
  title: string
  body: string
  link: string | null
}) => Promise<{ userIds: string[] }>

export const makeNotify = ({ notify }: { notify: Notify }): NodeKind =>
  checked({
    descriptor: {
      type: 'notify',
      kind: 'tool',
      group: 'messages',
      title: 'Notify people',
      description: 'Sends a notification to people in the workspace.',
      icon: 'bell',
      colour: '#c2410c',
      keywords: ['notification', 'alert', 'message', 'tell', 'inbox'],
      args_schema: fields(
        {
          user_ids: {
            type: 'array',
            title: 'People',
            description: 'Default: the person who started the run',
            items: { type: 'string', 'x-id': 'usr' },
            maxItems: 200,
          },
          title: { type: 'string', title: 'Title', minLength: 1, maxLength: 200 },
          body: { type: 'string', title: 'Text', maxLength: 4_000, 'x-editor': 'text' },
          link: { type: 'string', title: 'Link', pattern: '^(/$|/[^/\\\\]|https?://)', maxLength: 2_000 },
        },
        ['title', 'body'],
      ),
      output_schema: { type: 'object', properties: { user_ids: { type: 'array', items: { type: 'string' } } } },
      ports: ['out'],
      effect: 'idempotent',
      defaults: { title: 'Something happened', body: '' },
    },
    async run({ args, workspaceId, workflowId, executionId, effectKey, startedBy }) {
      const { userIds } = await notify({
        workspaceId,
        workflowId,
        executionId,
        key: effectKey,
        userIds: Array.isArray(args.user_ids) ? args.user_ids.map(personOf) : null,
        startedBy,
        title: String(args.title),
        body: String(args.body),
        link: typeof args.link === 'string' ? args.link : null,
      })
      return { output: { user_ids: userIds.map((id) => toWire('usr', id)) } }
    },
  })

function personOf(id: unknown): string {
  const uuid = fromWire('usr', String(id))
  if (uuid === undefined)
    throw new NodeFailure('unknown_reference', 'user_ids contains no person of the workspace', { retryable: false })
  return uuid
}
