import { body, cel, list, number, type Recipe, recipe, ref, text } from './recipe.ts'

const orders = [
  { customer: 'Ada', product: 'Tea', total: 12.5 },
  { customer: 'Ben', product: 'Cups', total: 40 },
  { customer: 'Ada', product: 'Cake', total: 7.5 },
]
const order = {
  type: 'object',
  properties: { customer: { type: 'string' }, product: { type: 'string' }, total: { type: 'number' } },
}

export const data: Recipe[] = [
  recipe({
    id: 'sum-orders',
    name: 'Totals per customer',
    use: 'Data and files',
    description: 'Groups a list and adds up each group with one JSONata expression.',
    inputs: { orders: list(orders, order) },
    steps: [['group', 'transform', 'Group', { input: ref('input.orders'), expression: '$${customer: $sum(total)}' }]],
    output: ref('nodes.group.output'),
  }),
  recipe({
    id: 'csv-report',
    name: 'A list as a spreadsheet',
    use: 'Data and files',
    description: 'Turns records into an Excel file that can be downloaded from the run.',
    inputs: { orders: list(orders, order) },
    steps: [['sheet', 'file.convert', 'Spreadsheet', { rows: ref('input.orders'), to: 'xlsx', name: 'orders.xlsx' }]],
    output: ref('nodes.sheet.output.file'),
  }),
  recipe({
    id: 'clean-list',
    name: 'Clean a mailing list',
    use: 'Data and files',
    description: 'Trims addresses, converts them to lower case, and removes invalid ones and duplicates.',
    inputs: {
      addresses: list([' Ada@Example.com', 'ben@example.com', 'nobody', 'ada@example.com'], { type: 'string' }),
    },
    steps: [
      [
        'clean',
        'set',
        'Clean',
        {
          values: {
            good: cel(
              'input.addresses.map(x, x.trim().lower()).filter(x, x.matches("^[^@ ]+@[^@ ]+[.][a-z]+$")).distinct()',
            ),
          },
        },
      ],
      [
        'count',
        'set',
        'Count',
        {
          values: {
            kept: cel('nodes.clean.output.good.size()'),
            dropped: cel('input.addresses.size() - nodes.clean.output.good.size()'),
          },
        },
      ],
    ],
    output: { addresses: ref('nodes.clean.output.good'), counts: ref('nodes.count.output') },
  }),
  recipe({
    id: 'each-order',
    name: 'Work through a list',
    use: 'Data and files',
    description: 'Processes each record separately; a failed record does not stop the others.',
    inputs: { orders: list(orders, order) },
    steps: [
      [
        'each',
        'map',
        'Every order',
        {
          items: ref('input.orders'),
          on_item_error: 'collect',
          body: body(
            [
              [
                'tax',
                'set',
                'Add tax',
                { values: { customer: ref('item.customer'), gross: cel('math.round(item.total * 119.0) / 100.0') } },
              ],
            ],
            ref('nodes.tax.output'),
          ),
        },
      ],
    ],
    output: ref('nodes.each.output'),
  }),
  recipe({
    id: 'text-file',
    name: 'Write a text file',
    use: 'Data and files',
    description: 'Fills in a letter from the input and stores it as a file.',
    inputs: { name: text('Ada', 'Name'), amount: number(120, 'Amount') },
    steps: [
      [
        'letter',
        'file.write',
        'Letter',
        {
          name: 'letter.txt',
          text: cel('"Dear " + input.name + ",\\n\\nyou owe us " + string(input.amount) + ".\\n"'),
        },
      ],
    ],
    output: ref('nodes.letter.output'),
  }),
  recipe({
    id: 'validate-records',
    name: 'Check records against rules',
    use: 'Data and files',
    description: 'Splits records into good and bad ones, with the reason for each bad one.',
    inputs: { orders: list([...orders, { customer: '', product: 'Jam', total: -3 }], order) },
    steps: [
      [
        'check',
        'code',
        'Check',
        {
          input: ref('input.orders'),
          source:
            'const reasons = (o) => [!o.customer && "no customer", !(o.total > 0) && "total is not positive"].filter(Boolean)\nreturn {\n  good: input.filter((o) => reasons(o).length === 0),\n  bad: input.filter((o) => reasons(o).length > 0).map((o) => ({ ...o, reasons: reasons(o) })),\n}',
        },
      ],
    ],
    output: ref('nodes.check.output'),
  }),
  recipe({
    id: 'save-dataset',
    name: 'Collect records in a dataset',
    use: 'Data and files',
    description: 'Adds records to a dataset. You can then view its profile and charts, and run jobs on it.',
    inputs: { orders: list(orders, order) },
    steps: [['save', 'dataset.write', 'Save', { name: 'Orders', records: ref('input.orders'), mode: 'append' }]],
    output: ref('nodes.save.output'),
  }),
  recipe({
    id: 'compare-lists',
    name: 'What is new and what is gone',
    use: 'Data and files',
    description: 'Compares the records of yesterday with those of today.',
    inputs: { before: list(['a', 'b', 'c'], { type: 'string' }), after: list(['b', 'c', 'd'], { type: 'string' }) },
    steps: [
      [
        'diff',
        'set',
        'Compare',
        {
          values: {
            added: cel('input.after.filter(x, !(x in input.before))'),
            gone: cel('input.before.filter(x, !(x in input.after))'),
          },
        },
      ],
    ],
    output: ref('nodes.diff.output'),
  }),
]
