import { control, fields } from './kind.ts'

export const MAX_KEY_LENGTH = 200

export const waitEvent = control({
  type: 'wait.event',
  kind: 'capability',
  group: 'control',
  title: 'Wait for an event',
  description:
    'Waits until an event with this key comes (`POST /api/events`), or until somebody calls the address of this node, which any earlier node can read as `callbacks.<id>.url`.',
  icon: 'radio',
  colour: '#64748b',
  keywords: ['event', 'callback', 'webhook', 'signal', 'external', 'wait', 'resume'],
  args_schema: fields({
    key: {
      type: 'string',
      title: 'Key',
      description:
        'Continues with an event that has this key. Without a key, only the address of the node continues it',
      minLength: 1,
      maxLength: MAX_KEY_LENGTH,
    },
    schema: {
      type: 'object',
      title: 'Data',
      description: 'JSON Schema of the data; an event that does not fit is not for this node',
      'x-editor': 'schema',
    },
    due_in_s: { type: 'number', title: 'Due after (seconds)', exclusiveMinimum: 0, maximum: 31_536_000 },
    on_due: {
      enum: ['fail', 'continue'],
      title: 'When overdue',
      description: '`continue` goes on with `timed_out: true` and no data',
      default: 'fail',
    },
  }),
  output_schema: {
    type: 'object',
    properties: {
      data: { description: 'What came with the event' },
      event_id: { type: ['string', 'null'] },
      name: { type: ['string', 'null'] },
      received_at: { type: 'string', format: 'date-time' },
      timed_out: { type: 'boolean' },
    },
  },
  ports: ['out'],
  effect: 'pure',
  defaults: { key: '', due_in_s: 86_400 },
})
