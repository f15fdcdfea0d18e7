import type { NodeKind } from '#engine/node'
import { fromWire, UNKNOWN_ID } from '#platform/ids'
import { checked, fields } from './kind.ts'

/**
 * Sends a message; the gateway implements it. `key` is the same on every attempt, and each key is sent once. Throws
 * NodeFailure.
 */
export type SendToChannel = (message: {
  workspaceId: string
  configId: string
  to: string
  text: string
  key: string
}) => Promise<{ channel: string; state: 'queued' | 'sent' }>

export const makeChannelSend = ({ sendToChannel }: { sendToChannel: SendToChannel }): NodeKind =>
  checked({
    descriptor: {
      type: 'channel.send',
      kind: 'tool',
      group: 'messages',
      title: 'Send to a channel',
      description: 'Sends a message through Slack, Telegram, WhatsApp, Discord, e-mail or a webhook of the workspace.',
      icon: 'send',
      colour: '#c2410c',
      keywords: ['slack', 'telegram', 'whatsapp', 'discord', 'email', 'webhook', 'message', 'chat', 'send'],
      args_schema: fields(
        {
          config_id: { type: 'string', title: 'Channel', minLength: 1, 'x-id': 'chan' },
          to: {
            type: 'string',
            title: 'To',
            description:
              'The recipient as the vendor identifies it: a channel or person in Slack, a chat id, a phone number, an address',
            minLength: 1,
            maxLength: 500,
          },
          text: { type: 'string', title: 'Text', minLength: 1, maxLength: 20_000, 'x-editor': 'text' },
        },
        ['config_id', 'to', 'text'],
      ),
      output_schema: {
        type: 'object',
        properties: { channel: { type: 'string' }, state: { type: 'string', enum: ['queued', 'sent'] } },
      },
      ports: ['out'],
      effect: 'idempotent',
      defaults: { config_id: '', to: '', text: '' },
    },
    async run({ args, workspaceId, effectKey }) {
      const receipt = await sendToChannel({
        workspaceId,
        configId: fromWire('chan', String(args.config_id)) ?? UNKNOWN_ID,
        to: String(args.to),
        text: String(args.text),
        key: effectKey,
      })
      return { output: { ...receipt } }
    },
  })
