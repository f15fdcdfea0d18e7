import { control, fields } from './kind.ts'

export const map = control({
  type: 'map',
  kind: 'capability',
  group: 'control',
  title: 'For each',
  description:
    'Runs a small graph once for every item of a list, several at a time, and collects the outputs in order.',
  icon: 'repeat',
  colour: '#64748b',
  keywords: ['loop', 'each', 'iterate', 'list', 'parallel', 'batch', 'foreach'],
  args_schema: fields(
    {
      items: {
        type: 'array',
        title: 'Items',
        description: 'The body reads each item as "item" and its position as "index"',
      },
      body: {
        type: 'object',
        title: 'Body',
        'x-value': 'graph',
        'x-editor': 'graph',
        required: ['nodes'],
        properties: { nodes: { type: 'array' }, edges: { type: 'array' }, output: {} },
      },
      concurrency: { type: 'integer', title: 'Concurrency', minimum: 1, maximum: 100, default: 10 },
      on_item_error: {
        enum: ['fail', 'collect'],
        title: 'On item error',
        description: '"collect" stores {"error": …} as the output of the item and continues',
        default: 'fail',
      },
    },
    ['items', 'body'],
  ),
  output_schema: { type: 'array', description: 'The output of the body for each item, in order' },
  ports: ['out'],
  effect: 'pure',
  defaults: { items: { $ref: 'input.items' }, body: { nodes: [], edges: [] }, concurrency: 10 },
})
