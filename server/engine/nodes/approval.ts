import { control, fields } from './kind.ts'

const approver = fields(
  {
    kind: { enum: ['user', 'team', 'role', 'agent'] },
    id: { type: 'string', minLength: 1 },
    name: { type: 'string', maxLength: 200 },
    instructions: { type: 'string', maxLength: 20_000, 'x-editor': 'text' },
    model: { type: 'string', maxLength: 200 },
  },
  ['kind', 'id'],
  { 'x-id-by-kind': { user: 'usr', team: 'team' } },
)
const approvers = { type: 'array', minItems: 1, maxItems: 100, items: approver }

const quorum = {
  title: 'Quorum',
  description:
    '"any", "all", {"n_of": n}, or CEL over approvals, rejections, abstentions, outstanding (each human, agent, total) and votes',
  'x-value': 'quorum',
  anyOf: [
    { enum: ['any', 'all'] },
    fields({ n_of: { type: 'integer', minimum: 1, maximum: 100 } }, ['n_of']),
    fields({ $cel: { type: 'string', minLength: 1, 'x-editor': 'cel' } }, ['$cel']),
  ],
}

export const approval = control({
  type: 'approval',
  kind: 'capability',
  group: 'people',
  title: 'Approval',
  description: 'Waits until people, and agents if you like, have voted on exactly what they were shown.',
  icon: 'stamp',
  colour: '#0e7490',
  keywords: ['vote', 'gate', 'sign-off', 'review', 'human', 'quorum', 'four eyes'],
  args_schema: fields(
    {
      title: { type: 'string', title: 'Title', minLength: 1, maxLength: 500 },
      payload: { title: 'What is voted on', description: 'Shown to the approvers; a vote is bound to it' },
      policy: fields(
        {
          approvers: { ...approvers, title: 'Approvers' },
          quorum,
          veto: { type: 'array', title: 'Veto', items: { type: 'string' }, maxItems: 20 },
          allow_self: { type: 'boolean', title: 'Whoever started it may vote', default: false },
          due_in_s: { type: 'number', title: 'Due after (seconds)', exclusiveMinimum: 0, maximum: 31_536_000 },
          on_due: { enum: ['reject', 'approve', 'escalate'], title: 'When it is due', default: 'reject' },
          escalate_to: { title: 'Escalate to', anyOf: [approvers, approver] },
        },
        ['approvers'],
        // Written out by the author: whoever starts an execution must not bring a policy along.
        { title: 'Policy', 'x-value': 'policy' },
      ),
    },
    ['title', 'policy'],
  ),
  output_schema: { type: 'object', properties: { status: { type: 'string' }, votes: { type: 'array' } } },
  ports: ['approved', 'rejected'],
  effect: 'pure',
  defaults: {
    title: 'Please approve',
    payload: { $ref: 'input' },
    policy: { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any' },
  },
})
