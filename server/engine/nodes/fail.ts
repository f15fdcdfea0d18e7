import { control, fields } from './kind.ts'

export const fail = control({
  type: 'fail',
  kind: 'capability',
  group: 'control',
  title: 'Fail',
  description: 'Fails the run with your own code and message.',
  icon: 'octagon-x',
  colour: '#b91c1c',
  keywords: ['error', 'stop', 'abort', 'throw', 'reject'],
  args_schema: fields(
    {
      code: { type: 'string', title: 'Code', pattern: '^[a-z][a-z0-9_]{0,63}$', default: 'failed' },
      message: { type: 'string', title: 'Message', minLength: 1, maxLength: 2_000 },
    },
    ['message'],
  ),
  output_schema: { description: 'None. No node can follow' },
  ports: [],
  effect: 'pure',
  defaults: { message: 'This cannot go on' },
})
