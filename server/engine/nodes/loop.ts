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
    'Runs a small graph again and again, one turn after the other, while a condition is true or until it is. The output of the body is the state of the next turn.',
  icon: 'repeat',
  colour: '#64748b',
  keywords: ['loop', 'while', 'until', 'repeat', 'poll', 'iterate', 'again', 'page'],
  args_schema: fields(
    {
      body: {
        type: 'object',
        title: 'Body',
        description: 'Sees "state" and "turn". Its output is the state of the next turn',
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
        description: 'The node fails with loop_limit if the condition asks for more turns',
        minimum: 1,
        maximum: 10_000,
      },
      state: { title: 'First state', description: 'The state that the first turn sees. Default: null' },
      collect: { title: 'Collect', description: 'Evaluated after each turn and added to the list "collected"' },
      delay_s: {
        type: 'number',
        title: 'Delay (seconds)',
        description: 'Between two turns. An expression is evaluated each time',
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
