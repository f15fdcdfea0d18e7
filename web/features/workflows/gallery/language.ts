import { body, cel, list, ownerVotes, type Recipe, recipe, ref, text } from './recipe.ts'

const MODEL = 'A language model'
const mail = 'Hello, my order A-1042 came without the cups. Please send them again. Ben'

export const language: Recipe[] = [
  recipe({
    id: 'summarise',
    name: 'Summarise a text',
    use: 'Language models',
    description: 'Summarises any text in three sentences.',
    needs: MODEL,
    inputs: { text: text('Tea is made by pouring hot water over leaves. It is drunk all over the world.', 'Text') },
    steps: [
      ['sum', 'llm.generate', 'Summarise', { prompt: cel('"Summarise in three sentences:\\n\\n" + input.text') }],
    ],
    output: ref('nodes.sum.output'),
  }),
  recipe({
    id: 'extract-order',
    name: 'Read an order from a mail',
    use: 'Language models',
    description: 'Extracts names and numbers from free text into the fields of a schema.',
    needs: MODEL,
    inputs: { mail: text(mail, 'Mail') },
    steps: [
      [
        'read',
        'llm.extract',
        'Read',
        {
          text: ref('input.mail'),
          schema: {
            type: 'object',
            properties: { order: { type: 'string' }, customer: { type: 'string' }, problem: { type: 'string' } },
          },
        },
      ],
    ],
    output: ref('nodes.read.output.value'),
  }),
  recipe({
    id: 'triage-mail',
    name: 'Sort mails by topic',
    use: 'Language models',
    description: 'Reads the topic of a mail and takes a different branch for each topic.',
    needs: MODEL,
    inputs: { mail: text(mail, 'Mail') },
    steps: [
      [
        'topic',
        'llm.extract',
        'Topic',
        {
          text: ref('input.mail'),
          schema: { type: 'object', properties: { topic: { type: 'string', enum: ['order', 'bill', 'other'] } } },
        },
      ],
      [
        'which',
        'branch',
        'Which?',
        {
          cases: [
            { port: 'order', when: cel('nodes.topic.output.value.?topic.orValue("other") == "order"') },
            { port: 'bill', when: cel('nodes.topic.output.value.?topic.orValue("other") == "bill"') },
          ],
        },
      ],
      ['orders', 'set', 'Orders', { values: { team: 'orders' } }],
      ['bills', 'set', 'Bills', { values: { team: 'bills' } }],
      ['rest', 'set', 'Others', { values: { team: 'support' } }],
    ],
    links: ['topic>which', 'which:order>orders', 'which:bill>bills', 'which:default>rest'],
  }),
  recipe({
    id: 'draft-reply',
    name: 'Draft a reply, approved by a person',
    use: 'Language models',
    description: 'A model writes, a person sees exactly what would be sent, and decides.',
    needs: MODEL,
    inputs: { mail: text(mail, 'Mail') },
    steps: [
      ['draft', 'llm.generate', 'Draft', { prompt: cel('"Answer this mail kindly and briefly:\\n\\n" + input.mail') }],
      [
        'check',
        'approval',
        'Look at it',
        { title: 'Send this reply?', payload: ref('nodes.draft.output'), policy: ownerVotes },
      ],
      ['send', 'set', 'Send', { values: { sent: true } }],
      ['drop', 'set', 'Drop', { values: { sent: false } }],
    ],
    links: ['draft>check', 'check:approved>send', 'check:rejected>drop'],
  }),
  recipe({
    id: 'translate-list',
    name: 'Translate a list',
    use: 'Language models',
    description: 'Makes one call for each text, several at a time.',
    needs: MODEL,
    inputs: { texts: list(['Good morning', 'Thank you'], { type: 'string' }), into: text('German', 'Into') },
    steps: [
      [
        'each',
        'map',
        'Every text',
        {
          items: ref('input.texts'),
          concurrency: 3,
          body: body(
            [['say', 'llm.generate', 'Translate', { prompt: cel('"Translate into " + input.into + ": " + item') }]],
            ref('nodes.say.output'),
          ),
        },
      ],
    ],
    output: ref('nodes.each.output'),
  }),
  recipe({
    id: 'agent-research',
    name: 'An agent with a goal',
    use: 'Language models',
    description: 'An agent works towards a goal with few steps and a limit on tokens.',
    needs: MODEL,
    inputs: { goal: text('Suggest three names for a tea shop', 'Goal') },
    steps: [['work', 'agent.run', 'Work', { goal: ref('input.goal'), max_steps: 3, max_tokens: 20_000 }]],
    output: ref('nodes.work.output'),
  }),
]
