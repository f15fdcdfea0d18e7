import { credentialField } from '#engine/credentials'
import { control, fields } from './kind.ts'

// These fields are written by the author: a caller that starts an execution must not supply a policy or instructions
// for an agent. Only the id of the person, team or role may come from data.
const written = { 'x-value': 'literal' }
const role = { enum: ['owner', 'member', 'viewer', 'guest'] }

const approver = fields(
  {
    kind: { enum: ['user', 'team', 'role', 'agent'], ...written },
    id: { type: 'string', minLength: 1, maxLength: 200 },
    name: { type: 'string', maxLength: 200, ...written },
    instructions: { type: 'string', maxLength: 20_000, 'x-editor': 'text', ...written },
    model: { type: 'string', maxLength: 200, ...written },
    credential_id: credentialField('Language model'),
  },
  ['kind', 'id'],
  {
    'x-id-by-kind': { user: 'usr', team: 'team' },
    if: { properties: { kind: { const: 'role' } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: { properties: { id: role } },
    ...written,
  },
)
const approvers = { type: 'array', minItems: 1, maxItems: 100, items: approver, ...written }

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
  description: 'Waits for people and, optionally, agents to vote on the content under review.',
  icon: 'stamp',
  colour: '#0e7490',
  keywords: ['vote', 'gate', 'sign-off', 'review', 'human', 'quorum', 'four eyes'],
  args_schema: fields(
    {
      title: { type: 'string', title: 'Title', minLength: 1, maxLength: 500 },
      payload: {
        title: 'Content under review',
        description: 'Shown to the approvers. A vote applies to exactly this content',
      },
      policy: fields(
        {
          approvers: { ...approvers, title: 'Approvers' },
          quorum,
          veto: { type: 'array', title: 'Veto', items: { ...role, ...written }, maxItems: 20, ...written },
          allow_self: { type: 'boolean', title: 'The person who started the run may vote', default: false, ...written },
          due_in_s: {
            type: 'number',
            title: 'Due after (seconds)',
            exclusiveMinimum: 0,
            maximum: 31_536_000,
            ...written,
          },
          on_due: { enum: ['reject', 'approve', 'escalate'], title: 'When overdue', default: 'reject', ...written },
          escalate_to: { title: 'Escalate to', anyOf: [approvers, approver], ...written },
        },
        ['approvers'],
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
