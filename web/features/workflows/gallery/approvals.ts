import { cel, list, number, ownerVotes, type Recipe, recipe, ref, text } from './recipe.ts'

const done = (decision: string) => ({ values: { decision } })

export const approvals: Recipe[] = [
  recipe({
    id: 'purchase-limit',
    name: 'Purchase over a limit',
    use: 'Approvals',
    description: 'Small purchases pass at once; larger ones wait for an owner.',
    inputs: { item: text('Standing desk', 'Item'), amount: number(480, 'Amount') },
    steps: [
      ['size', 'branch', 'Over the limit?', { cases: [{ port: 'large', when: cel('input.amount > 250') }] }],
      [
        'ask',
        'approval',
        'An owner decides',
        { title: cel('"Buy " + input.item'), payload: ref('input'), policy: ownerVotes },
      ],
      ['yes', 'set', 'Order it', done('ordered')],
      ['no', 'set', 'Do not order', done('refused')],
    ],
    links: ['size:large>ask', 'size:default>yes', 'ask:approved>yes', 'ask:rejected>no'],
  }),
  recipe({
    id: 'leave-request',
    name: 'Leave request',
    use: 'Approvals',
    description: 'Asks for the dates, then for a decision, and notifies the person.',
    inputs: { who: text('Ada', 'Who') },
    steps: [
      [
        'dates',
        'clarification',
        'Which days?',
        {
          question: 'Which days do you want to take off?',
          schema: {
            type: 'object',
            properties: { from: { type: 'string', format: 'date' }, to: { type: 'string', format: 'date' } },
            required: ['from', 'to'],
          },
        },
      ],
      [
        'decide',
        'approval',
        'An owner decides',
        { title: cel('"Leave for " + input.who'), payload: ref('nodes.dates.output'), policy: ownerVotes },
      ],
      [
        'tell',
        'notify',
        'Granted',
        {
          title: 'Your leave is granted',
          body: cel('"From " + nodes.dates.output.from + " to " + nodes.dates.output.to'),
        },
      ],
      ['sorry', 'notify', 'Refused', { title: 'Your leave was refused', body: 'Ask the owner why.' }],
    ],
    links: ['dates>decide', 'decide:approved>tell', 'decide:rejected>sorry'],
  }),
  recipe({
    id: 'number-of-owners',
    name: 'Several owners must agree',
    use: 'Approvals',
    description: 'Requires a number of approvals. Start with one, and raise the number when you have colleagues.',
    inputs: { change: text('Raise the price of plan B', 'Change') },
    steps: [
      [
        'vote',
        'approval',
        'Vote',
        { title: ref('input.change'), payload: ref('input'), policy: { ...ownerVotes, quorum: { n_of: 1 } } },
      ],
      ['go', 'set', 'Agreed', done('agreed')],
      ['stop', 'set', 'Not agreed', done('not agreed')],
    ],
    links: ['vote:approved>go', 'vote:rejected>stop'],
  }),
  recipe({
    id: 'content-review',
    name: 'Review before publishing',
    use: 'Approvals',
    description: 'Checks the length of a draft, then shows it to a person exactly as it will be published.',
    inputs: {
      title: text('Our autumn menu', 'Title'),
      draft: text('Soup, stew and a pear cake, from Thursday on.', 'Draft'),
    },
    steps: [
      ['check', 'branch', 'Long enough?', { cases: [{ port: 'fine', when: cel('input.draft.size() >= 20') }] }],
      [
        'review',
        'approval',
        'Review',
        { title: cel('"Publish: " + input.title'), payload: ref('input'), policy: ownerVotes },
      ],
      ['publish', 'set', 'Publish', { values: { published: ref('input.title') } }],
      ['short', 'fail', 'Too short', { code: 'too_short', message: 'The draft has fewer than 20 characters' }],
      ['back', 'set', 'Back to the author', done('back to the author')],
    ],
    links: ['check:fine>review', 'check:default>short', 'review:approved>publish', 'review:rejected>back'],
  }),
  recipe({
    id: 'onboarding',
    name: 'Onboarding checklist',
    use: 'Approvals',
    description: 'One task after another for a new colleague, each confirmed by a person.',
    inputs: { name: text('Grace', 'New colleague'), tasks: list(['Laptop', 'Accounts', 'Tour'], { type: 'string' }) },
    steps: [
      [
        'each',
        'map',
        'Every task',
        {
          items: ref('input.tasks'),
          concurrency: 1,
          body: {
            nodes: [
              {
                id: 'confirm',
                type: 'clarification',
                name: 'Confirm',
                args: {
                  question: cel('"Done: " + item + "?"'),
                  schema: {
                    type: 'object',
                    properties: { done: { type: 'boolean', default: true } },
                    required: ['done'],
                  },
                },
              },
            ],
            edges: [],
            output: { task: ref('item'), done: ref('nodes.confirm.output.done') },
          },
        },
      ],
      ['report', 'set', 'Report', { values: { open: cel('nodes.each.output.filter(x, !x.done).map(x, x.task)') } }],
    ],
  }),
  recipe({
    id: 'refund',
    name: 'Refund with two limits',
    use: 'Approvals',
    description: 'Refunds up to 20 at once, up to 200 after a question, and more after an approval.',
    inputs: { order: text('A-1042', 'Order'), amount: number(75, 'Amount') },
    steps: [
      [
        'size',
        'branch',
        'How much?',
        {
          cases: [
            { port: 'small', when: cel('input.amount <= 20') },
            { port: 'middle', when: cel('input.amount <= 200') },
          ],
        },
      ],
      [
        'why',
        'clarification',
        'Why?',
        {
          question: 'Why is it refunded?',
          schema: { type: 'object', properties: { reason: { type: 'string' } }, required: ['reason'] },
        },
      ],
      [
        'vote',
        'approval',
        'Approve',
        { title: cel('"Refund " + input.order'), payload: ref('input'), policy: ownerVotes },
      ],
      ['pay', 'set', 'Refund', { values: { order: ref('input.order'), refunded: ref('input.amount') } }],
      ['keep', 'set', 'No refund', { values: { order: ref('input.order'), refunded: 0 } }],
    ],
    links: [
      'size:small>pay',
      'size:middle>why',
      'size:default>vote',
      'why>pay',
      'vote:approved>pay',
      'vote:rejected>keep',
    ],
  }),
  recipe({
    id: 'survey',
    name: 'Short survey',
    use: 'Approvals',
    description: 'A form with three questions; the answers become one result.',
    inputs: { topic: text('the new office', 'Topic') },
    steps: [
      [
        'ask',
        'clarification',
        'Ask',
        {
          question: cel('"What do you think about " + input.topic + "?"'),
          schema: {
            type: 'object',
            properties: {
              score: { type: 'integer', minimum: 1, maximum: 5 },
              liked: { type: 'string' },
              missing: { type: 'string' },
            },
            required: ['score'],
          },
        },
      ],
      [
        'sum',
        'set',
        'Result',
        {
          values: {
            topic: ref('input.topic'),
            happy: cel('nodes.ask.output.score >= 4'),
            answer: ref('nodes.ask.output'),
          },
        },
      ],
    ],
    output: ref('nodes.sum.output'),
  }),
]
