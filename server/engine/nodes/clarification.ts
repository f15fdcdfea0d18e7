import { control, fields } from './kind.ts'

const person = fields(
  { kind: { enum: ['user', 'team', 'role'] }, id: { type: 'string', minLength: 1, maxLength: 200 } },
  ['kind', 'id'],
  { 'x-id-by-kind': { user: 'usr', team: 'team' } },
)

export const clarification = control({
  type: 'clarification',
  kind: 'capability',
  group: 'people',
  title: 'Ask a question',
  description: 'Asks a person and waits for an answer that matches the schema. The first valid answer wins.',
  icon: 'message-circle-question',
  colour: '#0e7490',
  keywords: ['question', 'ask', 'human', 'input', 'form', 'answer'],
  args_schema: fields(
    {
      question: { type: 'string', title: 'Question', minLength: 1, maxLength: 4_000, 'x-editor': 'text' },
      schema: {
        type: 'object',
        title: 'Expected answer',
        description: 'JSON Schema of the answer',
        'x-editor': 'schema',
      },
      who: {
        type: 'array',
        title: 'Who may answer',
        description: 'Default: the owner, the members and the person who started the run',
        maxItems: 50,
        items: { anyOf: [person, { type: 'string', maxLength: 200, 'x-id': 'usr' }] },
      },
      due_in_s: { type: 'number', title: 'Due after (seconds)', exclusiveMinimum: 0, maximum: 31_536_000 },
      on_due: { enum: ['fail', 'default', 'escalate'], title: 'When overdue', default: 'fail' },
      default: { title: 'Default answer' },
      reuse: fields(
        {
          key: {
            title: 'Key of the question',
            description:
              'Questions with the same key count as the same question. Usually an expression, such as the customer’s id',
          },
          for_s: { type: 'number', title: 'For (seconds)', exclusiveMinimum: 0, maximum: 31_536_000 },
          use: {
            enum: ['take', 'offer'],
            title: 'An earlier answer',
            description: '`take` uses the earlier answer without asking; `offer` asks and shows the earlier answer',
            default: 'take',
          },
        },
        ['key', 'for_s'],
        {
          title: 'Use earlier answers',
          description: 'Reuses an earlier answer if the person who gave it may still answer.',
        },
      ),
    },
    ['question'],
  ),
  output_schema: { description: 'The answer' },
  ports: ['out'],
  effect: 'pure',
  defaults: {
    question: 'What should happen next?',
    schema: { type: 'object', properties: { answer: { type: 'string', title: 'Answer' } }, required: ['answer'] },
  },
})
