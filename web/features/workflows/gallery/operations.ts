import { body, cel, list, number, ownerVotes, type Recipe, recipe, ref, text } from './recipe.ts'

export const operations: Recipe[] = [
  recipe({
    id: 'counter',
    name: 'Count runs',
    use: 'Operations',
    description: 'Remembers a number between runs.',
    steps: [
      ['read', 'state.get', 'Read', { key: 'runs', default: 0 }],
      ['write', 'state.set', 'Store', { key: 'runs', value: cel('nodes.read.output.value + 1') }],
    ],
    output: cel('nodes.read.output.value + 1'),
  }),
  recipe({
    id: 'once-a-day',
    name: 'Only once a day',
    use: 'Operations',
    description: 'Skips the work when it was already done today.',
    steps: [
      ['last', 'state.get', 'Last day', { key: 'last_day', default: '' }],
      ['today', 'set', 'Today', { values: { day: cel('string(now()).substring(0, 10)') } }],
      [
        'new',
        'branch',
        'Is it new?',
        { cases: [{ port: 'new', when: cel('nodes.last.output.value != nodes.today.output.day') }] },
      ],
      ['work', 'set', 'Work', { values: { done: true } }],
      ['keep', 'state.set', 'Remember', { key: 'last_day', value: ref('nodes.today.output.day') }],
    ],
    links: ['last>today', 'today>new', 'new:new>work', 'work>keep'],
  }),
  recipe({
    id: 'escalate',
    name: 'Remind and escalate',
    use: 'Operations',
    description: 'Asks a question, and continues with a default when nobody answers within an hour.',
    inputs: { incident: text('The printer is on fire', 'Incident') },
    steps: [
      [
        'ask',
        'clarification',
        'Who takes it?',
        {
          question: cel('"Who takes: " + input.incident + "?"'),
          schema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
          due_in_s: 3_600,
          on_due: 'default',
          default: { who: 'nobody' },
        },
      ],
      ['taken', 'branch', 'Taken?', { cases: [{ port: 'open', when: cel('nodes.ask.output.who == "nobody"') }] }],
      ['alarm', 'notify', 'Alarm', { title: 'Nobody has taken the incident', body: ref('input.incident') }],
      ['log', 'set', 'Log', { values: { who: ref('nodes.ask.output.who') } }],
    ],
    links: ['ask>taken', 'taken:open>alarm', 'taken:default>log'],
  }),
  recipe({
    id: 'deploy-gate',
    name: 'A gate before a release',
    use: 'Operations',
    description: 'Runs the checks first; then a person decides on exactly what was checked.',
    inputs: { version: text('2.4.0', 'Version'), tests: { type: 'boolean', title: 'Tests passed', default: true } },
    steps: [
      ['green', 'branch', 'Tests?', { cases: [{ port: 'green', when: cel('input.tests') }] }],
      [
        'gate',
        'approval',
        'Release?',
        { title: cel('"Release " + input.version'), payload: ref('input'), policy: ownerVotes },
      ],
      ['go', 'set', 'Released', { values: { released: ref('input.version') } }],
      ['red', 'fail', 'Not tested', { code: 'tests_failed', message: 'The tests did not pass' }],
      ['held', 'set', 'Held back', { values: { released: '' } }],
    ],
    links: ['green:green>gate', 'green:default>red', 'gate:approved>go', 'gate:rejected>held'],
  }),
  recipe({
    id: 'backoff',
    name: 'Try again with growing pauses',
    use: 'Operations',
    description: 'Tries a step up to three times, and takes another path if it still fails.',
    inputs: { works: { type: 'boolean', title: 'Works', default: true } },
    steps: [
      [
        'risky',
        'code',
        'Risky step',
        { input: ref('input.works'), source: 'if (!input) throw new Error("not yet")\nreturn { fine: true }' },
        { retry: { max_attempts: 3, backoff_s: 0 }, on_error: 'route' },
      ],
      ['fine', 'set', 'Worked', { values: { result: 'worked' } }],
      ['other', 'set', 'Another way', { values: { result: 'another way' } }],
    ],
    links: ['risky>fine', 'risky:error>other'],
  }),
  recipe({
    id: 'batches',
    name: 'Work in batches',
    use: 'Operations',
    description: 'Splits a long list into batches and processes them one after another.',
    inputs: { items: list([1, 2, 3, 4, 5, 6, 7], { type: 'number' }), size: number(3, 'Size') },
    steps: [
      [
        'cut',
        'code',
        'Cut',
        {
          input: ref('input'),
          source:
            'const pieces = []\nfor (let i = 0; i < input.items.length; i += input.size) pieces.push(input.items.slice(i, i + input.size))\nreturn pieces',
        },
      ],
      [
        'each',
        'map',
        'Every batch',
        {
          items: ref('nodes.cut.output'),
          concurrency: 1,
          body: body([['sum', 'set', 'Add up', { values: { sum: cel('item.sum()') } }]], ref('nodes.sum.output.sum')),
        },
      ],
    ],
    output: ref('nodes.each.output'),
  }),
  recipe({
    id: 'pause',
    name: 'Wait a moment',
    use: 'Operations',
    description: 'Waits without using resources, also through restarts.',
    inputs: { seconds: number(1, 'Seconds') },
    steps: [
      ['wait', 'wait', 'Wait', { for_s: ref('input.seconds') }],
      ['done', 'set', 'Done', { values: { waited: ref('input.seconds') } }],
    ],
    output: ref('nodes.done.output'),
  }),
]
