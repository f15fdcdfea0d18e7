import { control, fields } from './kind.ts'

export const set = control({
  type: 'set',
  kind: 'capability',
  group: 'control',
  title: 'Set values',
  description: 'Defines named values that later nodes can reference.',
  icon: 'braces',
  colour: '#64748b',
  keywords: ['variable', 'assign', 'object', 'constant', 'compute'],
  args_schema: fields(
    {
      values: { type: 'object', title: 'Values', description: 'The fields of the output.' },
    },
    ['values'],
  ),
  output_schema: { type: 'object', description: 'The values' },
  ports: ['out'],
  effect: 'pure',
  defaults: { values: {} },
})
