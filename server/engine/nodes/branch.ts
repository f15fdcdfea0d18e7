import { control, fields } from './kind.ts'

const condition = {
  ...fields({ $cel: { type: 'string', minLength: 1, 'x-editor': 'cel' } }, ['$cel']),
  'x-value': 'condition',
  title: 'When',
  description: 'A CEL expression that is true or false, such as input.amount > 1000',
}

export const branch = control({
  type: 'branch',
  kind: 'capability',
  group: 'control',
  title: 'Branch',
  description: 'Continues on the port of the first case that is true, otherwise on "default".',
  icon: 'split',
  colour: '#64748b',
  keywords: ['if', 'else', 'switch', 'condition', 'decision', 'route'],
  args_schema: fields(
    {
      cases: {
        type: 'array',
        title: 'Cases',
        minItems: 1,
        maxItems: 50,
        'x-value': 'cases',
        items: fields(
          {
            port: { type: 'string', title: 'Port', 'x-value': 'literal', pattern: '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$' },
            when: condition,
          },
          ['port', 'when'],
        ),
      },
    },
    ['cases'],
  ),
  output_schema: { description: 'The input, unchanged' },
  ports: ['default'],
  effect: 'pure',
  defaults: { cases: [{ port: 'yes', when: { $cel: 'true' } }] },
})
