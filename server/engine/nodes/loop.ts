import { control, fields } from './kind.ts'

const condition = (title: string, description: string) => ({
  ...fields({ $cel: { type: 'string', minLength: 1, 'x-editor': 'cel' } }, ['$cel']),
  'x-value': 'condition',
  title,
  description,
})

export const loop = control({
  type: 'loop',
  kind: 'capability',
  group: 'control',
  title: 'Loop',
  description:
    'Repeats a small graph, one turn after another, while or until a condition is true. The output of the body is the state of the next turn.',
  icon: 'repeat',
  colour: '#64748b',
  keywords: ['loop', 'while', 'until', 'repeat', 'poll', 'iterate', 'again', 'page'],
  args_schema: fields(
    {
      body: {
        type: 'object',
        title: 'Body',
        description: 'The body can read "state" and "turn". Its output is the state of the next turn',
        'x-value': 'graph',
        'x-editor': 'graph',
        required: ['nodes'],
        properties: { nodes: { type: 'array' }, edges: { type: 'array' }, output: {} },
      },
      while: condition('While', 'Checked before each turn: state.left > 0'),
      until: condition('Until', 'Checked after each turn: state.status == "done"'),
      max_iterations: {
        type: 'integer',
        title: 'Max iterations',
        description: 'The node fails with loop_limit if the condition requires more turns',
        minimum: 1,
        maximum: 10_000,
      },
      state: { title: 'Initial state', description: 'The state of the first turn. Default: null' },
      collect: { title: 'Collect', description: 'Evaluated after each turn and added to the list "collected"' },
      delay_s: {
        type: 'number',
        title: 'Delay (seconds)',
        description: 'The delay between two turns. An expression is evaluated each time',
        minimum: 0,
        maximum: 31_536_000,
      },
    },
    ['body', 'max_iterations'],
    { oneOf: [{ required: ['while'] }, { required: ['until'] }] },
  ),
  output_schema: {
    type: 'object',
    properties: {
      turns: { type: 'integer', description: 'How many turns there were' },
      state: { description: 'The state after the last turn' },
      collected: { type: 'array', description: 'What "collect" gave after each turn' },
    },
  },
  ports: ['out'],
  effect: 'pure',
  defaults: { until: { $cel: 'turn >= 3' }, max_iterations: 100, body: { nodes: [], edges: [] } },
})
