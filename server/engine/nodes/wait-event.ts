import { control, fields } from './kind.ts'

export const MAX_KEY_LENGTH = 200

export const waitEvent = control({
  type: 'wait.event',
  kind: 'capability',
  group: 'control',
  title: 'Wait for an event',
  description:
    'Waits until an event with this key arrives (`POST /api/events`), or until the address of this node is called. Earlier nodes can read the address as `callbacks.<id>.url`.',
  icon: 'radio',
  colour: '#64748b',
  keywords: ['event', 'callback', 'webhook', 'signal', 'external', 'wait', 'resume'],
  args_schema: fields({
    key: {
      type: 'string',
      title: 'Key',
      description:
        'The run continues when an event with this key arrives. Without a key, only a call to the address of the node continues it',
      minLength: 1,
      maxLength: MAX_KEY_LENGTH,
    },
    schema: {
      type: 'object',
      title: 'Data',
      description: 'JSON Schema of the event data. This node ignores events that do not match',
      'x-editor': 'schema',
    },
    due_in_s: { type: 'number', title: 'Due after (seconds)', exclusiveMinimum: 0, maximum: 31_536_000 },
    on_due: {
      enum: ['fail', 'continue'],
      title: 'When overdue',
      description: 'With `continue`, the run continues with `timed_out: true` and no data',
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
