import { control, fields } from './kind.ts'

export const set = control({
  type: 'set',
  kind: 'capability',
  group: 'control',
  title: 'Set values',
  description: 'Names values, literal or computed, so that later nodes can refer to them in one place.',
  icon: 'braces',
  colour: '#64748b',
  keywords: ['variable', 'assign', 'object', 'constant', 'compute'],
  args_schema: fields(
    {
      values: { type: 'object', title: 'Values', description: 'Each field is a value; together they are the output.' },
    },
    ['values'],
  ),
  output_schema: { type: 'object', description: 'The values' },
  ports: ['out'],
  effect: 'pure',
  defaults: { values: {} },
})
