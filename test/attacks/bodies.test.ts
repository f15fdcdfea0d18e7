import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId, type Prefix, toWire } from '#platform/ids'
import { type Cast, makeCast } from '../access/matrix.ts'
import { type Answer, useSharedService } from '../harness/service.ts'
import { makeWorkspace } from '../harness/world.ts'
import { constant, furnish } from './furnish.ts'

// Covers every field of a body that contains an id. The matrix in access/ covers ids in paths.

const service = useSharedService()
let cast: Cast
/** Ids in another workspace and in our workspace, by prefix. */
let theirs: Record<string, string>
let ours: Record<string, string>

beforeAll(async () => {
  cast = await makeCast(service())
  theirs = await furnish(cast.stranger)
  ours = await furnish(cast.author)
  theirs.ws = (await makeWorkspace(service(), cast.stranger, 'Not yours')).id
})

const withNode = (type: string, args: unknown) => ({ nodes: [{ id: 'n', type, args }], edges: [] })
const inMap = (inner: unknown) => withNode('map', { items: [1], body: inner })
const workflowWith = (definition: unknown) => ['POST', '/api/workflows', { name: 'W', definition }] as const
const gate = (policy: Record<string, unknown>) =>
  withNode('approval', { title: 'Go?', payload: 1, policy: { approvers: [{ kind: 'role', id: 'owner' }], ...policy } })
const calling = (credential_id: string) => withNode('http.request', { url: 'https://api.example.com', credential_id })
const destination = (more: object) =>
  [
    'POST',
    '/api/event-destinations',
    { url: 'https://hooks.example.com/in', event_types: ['execution.*'], ...more },
  ] as const
const sharing = (kind: string, id: string) =>
  [
    'POST',
    '/api/credentials',
    {
      name: 'S',
      kind: 'bearer',
      hosts: ['api.example.com'],
      secrets: { token: 'a-token-to-share' },
      shared: [{ kind, id, role: 'use' }],
    },
  ] as const
const asking = (who: unknown) => withNode('clarification', { question: 'Which?', schema: {}, who: [who] })

const resharing = (area: string, its: string, kind: string, id: string) =>
  ['PATCH', `/api/${area}/${its}`, { shared: [{ kind, id, role: 'use' }] }] as const
const agent = (credential_id: string) => ({ kind: 'agent', id: 'a', name: 'A', instructions: 'i', credential_id })
const extraction = { text: 't', schema: { type: 'object' } }
const review = { instructions: 'i', payload: 1 }
const tool = { service: 'slack', action: 'send_message' }
const toolGate = (policy: Record<string, unknown>) =>
  withNode('agent.run', {
    goal: 'g',
    tools: [{ type: 'http.request', approval: { approvers: [{ kind: 'role', id: 'owner' }], ...policy } }],
  })
const languageModel = () => `/api/workspaces/${cast.workspace.id}/language-model`
const alert = { name: 'R', kind: 'failure_rate', threshold: 0.5 }

type Request = readonly [method: string, path: string, body: unknown]
/**
 * Every field of a body that names something in the workspace: the prefix of its id, and a request with a given id in
 * that field.
 */
const places: Record<string, [Prefix, (id: string) => Request]> = {
  'member of a new workflow': ['usr', (id) => ['POST', '/api/workflows', { name: 'W', members: [{ user_id: id }] }]],
  'member of a workflow': ['usr', (id) => ['PATCH', `/api/workflows/${ours.wf}`, { members: [{ user_id: id }] }]],
  'owner of a workflow': ['usr', (id) => ['PATCH', `/api/workflows/${ours.spare}`, { owner_id: id }]],
  'error workflow': ['wf', (id) => ['PATCH', `/api/workflows/${ours.wf}`, { settings: { error_workflow_id: id } }]],
  'error workflow of a new one': [
    'wf',
    (id) => ['POST', '/api/workflows', { name: 'W', settings: { error_workflow_id: id } }],
  ],
  'version to run': ['wfv', (id) => ['POST', `/api/workflows/${ours.wf}/run`, { version_id: id }]],
  'sub-workflow': ['wf', (id) => workflowWith(withNode('subworkflow', { workflow_id: id }))],
  'version of a sub-workflow': [
    'wfv',
    (id) => workflowWith(withNode('subworkflow', { workflow_id: ours.wf, version_id: id })),
  ],
  'sub-workflow in a map': ['wf', (id) => workflowWith(inMap(withNode('subworkflow', { workflow_id: id })))],
  'sub-workflow in a map in a map': [
    'wf',
    (id) => workflowWith(inMap(inMap(withNode('subworkflow', { workflow_id: id })))),
  ],
  'sub-workflow in a new version': [
    'wf',
    (id) => [
      'POST',
      `/api/workflows/${ours.wf}/versions`,
      { definition: withNode('subworkflow', { workflow_id: id }) },
    ],
  ],
  'dataset that a node reads': ['ds', (id) => workflowWith(withNode('dataset.read', { dataset_id: id }))],
  'dataset read in a map': ['ds', (id) => workflowWith(inMap(withNode('dataset.read', { dataset_id: id })))],
  'person to notify': ['usr', (id) => workflowWith(withNode('notify', { user_ids: [id], title: 'Hello', body: 'x' }))],
  approver: ['usr', (id) => workflowWith(gate({ approvers: [{ kind: 'user', id }] }))],
  'team of approvers': ['team', (id) => workflowWith(gate({ approvers: [{ kind: 'team', id }] }))],
  'approver in a map': ['usr', (id) => workflowWith(inMap(gate({ approvers: [{ kind: 'user', id }] })))],
  'person to escalate to': [
    'usr',
    (id) => workflowWith(gate({ due_in_s: 9, on_due: 'escalate', escalate_to: [{ kind: 'user', id }] })),
  ],
  'one person to escalate to': [
    'usr',
    (id) => workflowWith(gate({ due_in_s: 9, on_due: 'escalate', escalate_to: { kind: 'user', id } })),
  ],
  'person who may answer': ['usr', (id) => workflowWith(asking({ kind: 'user', id }))],
  'person who may answer, by id alone': ['usr', (id) => workflowWith(asking(id))],
  'team that may answer': ['team', (id) => workflowWith(asking({ kind: 'team', id }))],
  'workflow of a job': ['wf', (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: id }]],
  'dataset of a job': [
    'ds',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: ours.wf, dataset_id: id }],
  ],
  'dataset a job writes': [
    'ds',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: ours.wf, output: { dataset_id: id } }],
  ],
  'source of a job': [
    'src',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: ours.wf, source_id: id }],
  ],
  'approver in a job’s own definition': [
    'usr',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', definition: gate({ approvers: [{ kind: 'user', id }] }) }],
  ],
  'sub-workflow in a job’s own definition': [
    'wf',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', definition: withNode('subworkflow', { workflow_id: id }) }],
  ],
  'workflow of a template': ['wf', (id) => ['POST', '/api/templates', { name: 'P', workflow_ids: [ours.wf, id] }]],
  'workflow added to a template': ['wf', (id) => ['PATCH', `/api/templates/${ours.tmpl}`, { workflow_ids: [id] }]],
  'template of a thread': ['tmpl', (id) => ['POST', '/api/chat-thread', { title: 'T', template_id: id }]],
  'template of a channel': [
    'tmpl',
    (id) => ['POST', '/api/gateway/channels', { channel: 'webhook', external_id: 'x', template_id: id }],
  ],
  'person of a team': [
    'usr',
    (id) => ['POST', `/api/teams/${ours.team}/add_users`, { user_ids: [cast.member.id, id] }],
  ],
  'source to capture': ['src', (id) => ['POST', '/api/datasets/capture', { source_id: id }]],
  'workspace of a key': ['ws', (id) => ['POST', '/auth/api-keys', { name: 'K', workspace_id: id }]],
  'company of a workspace': ['co', (id) => ['POST', '/api/workspaces', { name: 'W', company_id: id }]],
  'credential of a node': ['cred', (id) => workflowWith(calling(id))],
  'credential of a node in a map': ['cred', (id) => workflowWith(inMap(calling(id)))],
  'credential of a tool server': [
    'cred',
    (id) =>
      workflowWith(withNode('mcp.call', { server: { url: 'https://api.example.com', credential_id: id }, tool: 't' })),
  ],
  'credential in a list of an agent': [
    'cred',
    (id) =>
      workflowWith(
        withNode('agent.run', { goal: 'g', mcp: [{ url: 'https://api.example.com', credential_id: id }], tools: [] }),
      ),
  ],
  'credential in a job’s own definition': [
    'cred',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', definition: calling(id) }],
  ],
  'credential of an imported workflow': [
    'cred',
    (id) => ['POST', '/api/workflows/import', { document: { name: 'I', definition: calling(id) } }],
  ],
  'workflow to import into': [
    'wf',
    (id) => [
      'POST',
      '/api/workflows/import',
      { document: { name: 'I', definition: constant }, workflow_id: id, dry_run: true },
    ],
  ],
  'person a credential is shared with': ['usr', (id) => sharing('user', id)],
  'team a credential is shared with': ['team', (id) => sharing('team', id)],
  'credential of a destination': ['cred', (id) => destination({ credential_id: id })],
  'workflow of a destination': ['wf', (id) => destination({ workflow_id: id })],
  'receiver of a workflow': ['usr', (id) => ['POST', `/api/workflows/${ours.spare}/transfer`, { user_id: id }]],
  'team of a workflow': ['team', (id) => ['PATCH', `/api/workflows/${ours.wf}`, { teams: [{ team_id: id }] }]],
  'team of a new workflow': ['team', (id) => ['POST', '/api/workflows', { name: 'W', teams: [{ team_id: id }] }]],
  'team of a template': ['team', (id) => ['PATCH', `/api/templates/${ours.tmpl}`, { teams: [{ team_id: id }] }]],
  'workflow whose requirements are wanted': [
    'wf',
    (id) => ['POST', '/api/workflows/extract-requirements', { message: 'Hello', workflow_id: id }],
  ],
  'suite before activation': [
    'suite',
    (id) => ['PATCH', `/api/workflows/${ours.wf}`, { settings: { activation: { suite_id: id } } }],
  ],
  'suite before activation of a new one': [
    'suite',
    (id) => ['POST', '/api/workflows', { name: 'W', settings: { activation: { suite_id: id } } }],
  ],
  'version of one of several runs': [
    'wfv',
    (id) => ['POST', `/api/workflows/${ours.wf}/run-batch`, { runs: [{}, { version_id: id }] }],
  ],
  'company a workspace moves to': ['co', (id) => ['PATCH', `/api/workspaces/${cast.workspace.id}`, { company_id: id }]],
  'plan of a subscription': ['plan', (id) => ['POST', '/api/payments/subscriptions', { plan_id: id }]],
  'team of a job': [
    'team',
    (id) => ['POST', '/api/enrichment-jobs', { name: 'J', workflow_id: ours.wf, teams: [{ team_id: id }] }],
  ],
  'workflow a job changes to': ['wf', (id) => ['PUT', `/api/enrichment-jobs/${ours.job}`, { workflow_id: id }]],
  'dataset a job changes to': ['ds', (id) => ['PUT', `/api/enrichment-jobs/${ours.job}`, { dataset_id: id }]],
  'source a job changes to': ['src', (id) => ['PUT', `/api/enrichment-jobs/${ours.job}`, { source_id: id }]],
  'dataset a job changes to write': [
    'ds',
    (id) => ['PUT', `/api/enrichment-jobs/${ours.job}`, { output: { dataset_id: id } }],
  ],
  'team a job changes to': ['team', (id) => ['PUT', `/api/enrichment-jobs/${ours.job}`, { teams: [{ team_id: id }] }]],
  'dataset of a suite': [
    'ds',
    (id) => [
      'POST',
      `/api/workflows/${ours.wf}/suites`,
      { name: 'S', checks: [{ kind: 'cel', expression: 'true' }], dataset_id: id },
    ],
  ],
  'dataset a suite changes to': ['ds', (id) => ['PATCH', `/api/suites/${ours.suite}`, { dataset_id: id }]],
  'version a suite runs': ['wfv', (id) => ['POST', `/api/suites/${ours.suite}/run`, { version_id: id }]],
  'knowledge of a template': [
    'kb',
    (id) => ['POST', '/api/templates', { name: 'P', workflow_ids: [], knowledge_ids: [ours.kb, id] }],
  ],
  'knowledge a template changes to': ['kb', (id) => ['PATCH', `/api/templates/${ours.tmpl}`, { knowledge_ids: [id] }]],
  'team of a new template': [
    'team',
    (id) => ['POST', '/api/templates', { name: 'P', workflow_ids: [], teams: [{ team_id: id }] }],
  ],
  'template a channel changes to': [
    'tmpl',
    (id) => ['PATCH', `/api/gateway/channels/${ours.chan}`, { template_id: id }],
  ],
  'person a credential becomes shared with': ['usr', (id) => resharing('credentials', ours.cred!, 'user', id)],
  'team a credential becomes shared with': ['team', (id) => resharing('credentials', ours.cred!, 'team', id)],
  'person a credential is given to': ['usr', (id) => ['PATCH', `/api/credentials/${ours.spareCred}`, { owner_id: id }]],
  'credential of the language model': ['cred', (id) => ['PUT', languageModel(), { credential_id: id }]],
  'fallback of the language model': [
    'cred',
    (id) => ['PUT', languageModel(), { credential_id: null, fallback_credential_id: id }],
  ],
  'credential of an imported service': [
    'cred',
    (id) => ['POST', '/api/services/import', { name: 'tools', mcp_url: 'https://api.example.com', credential_id: id }],
  ],
  'credential of a service that is looked at': [
    'cred',
    (id) => [
      'POST',
      '/api/services/import/preview',
      { name: 'tools', mcp_url: 'https://api.example.com', credential_id: id },
    ],
  ],
  'credential for the choices of a service': [
    'cred',
    (id) => ['POST', '/api/services/slack/options', { options: 'channels', credential_id: id }],
  ],
  'credential of a service trigger': [
    'cred',
    (id) => [
      'POST',
      `/api/workflows/${ours.wf}/triggers`,
      { service: 'github', trigger: 'new_issue', args: { owner: 'o', repo: 'r' }, credential_id: id },
    ],
  ],
  'workflow a destination changes to': [
    'wf',
    (id) => ['PATCH', `/api/event-destinations/${ours.dst}`, { workflow_id: id }],
  ],
  'credential a destination changes to': [
    'cred',
    (id) => ['PATCH', `/api/event-destinations/${ours.dst}`, { credential_id: id }],
  ],
  'credential of embeddings': [
    'cred',
    (id) => [
      'POST',
      '/api/knowledge',
      { name: 'B', embeddings: { credential_id: id, model: 'openai/text-embedding-3-small' } },
    ],
  ],
  'credential embeddings change to': [
    'cred',
    (id) => [
      'PATCH',
      `/api/knowledge/${ours.kb}`,
      { embeddings: { credential_id: id, model: 'openai/text-embedding-3-small' } },
    ],
  ],
  'person knowledge is shared with': [
    'usr',
    (id) => ['POST', '/api/knowledge', { name: 'B', shared: [{ kind: 'user', id, role: 'use' }] }],
  ],
  'team knowledge is shared with': [
    'team',
    (id) => ['POST', '/api/knowledge', { name: 'B', shared: [{ kind: 'team', id, role: 'use' }] }],
  ],
  'person knowledge becomes shared with': ['usr', (id) => resharing('knowledge', ours.kb!, 'user', id)],
  'team knowledge becomes shared with': ['team', (id) => resharing('knowledge', ours.kb!, 'team', id)],
  'person knowledge is given to': ['usr', (id) => ['PATCH', `/api/knowledge/${ours.spareKb}`, { owner_id: id }]],
  'file of a document': [
    'file',
    (id) => ['POST', `/api/knowledge/${ours.kb}/documents`, { file: { $file: { file_id: id } } }],
  ],
  'dataset of documents': [
    'ds',
    (id) => ['POST', `/api/knowledge/${ours.kb}/documents`, { dataset: { dataset_id: id, columns: ['a'] } }],
  ],
  'workflow of an alert': ['wf', (id) => ['POST', '/api/alert-rules', { ...alert, workflow_id: id }]],
  'person an alert tells': [
    'usr',
    (id) => ['POST', '/api/alert-rules', { ...alert, workflow_id: ours.wf, people: [cast.author.id, id] }],
  ],
  'channel an alert writes to': [
    'chan',
    (id) => ['POST', '/api/alert-rules', { ...alert, workflow_id: ours.wf, channel: { config_id: id, to: 'C1' } }],
  ],
  'person an alert changes to tell': ['usr', (id) => ['PATCH', `/api/alert-rules/${ours.rule}`, { people: [id] }]],
  'channel an alert changes to': [
    'chan',
    (id) => ['PATCH', `/api/alert-rules/${ours.rule}`, { channel: { config_id: id, to: 'C1' } }],
  ],
  'person a comment mentions': [
    'usr',
    (id) => ['POST', `/api/workflows/${ours.wf}/comments`, { body: 'Look', mentions: [id] }],
  ],
  'channel a person links': ['chan', (id) => ['POST', '/api/notifications/channels', { config_id: id }]],
  'channel of a node': [
    'chan',
    (id) => workflowWith(withNode('channel.send', { config_id: id, to: 'C1', text: 'Hello' })),
  ],
  'connection of a node': [
    'conn',
    (id) => workflowWith(withNode('warehouse.query', { connection_id: id, query: 'select 1' })),
  ],
  'connection a node writes to': [
    'conn',
    (id) => workflowWith(withNode('warehouse.execute', { connection_id: id, statement: 'delete from t' })),
  ],
  'knowledge that a node adds to': [
    'kb',
    (id) => workflowWith(withNode('knowledge.add', { knowledge_id: id, text: 'T' })),
  ],
  'knowledge of a node': ['kb', (id) => workflowWith(withNode('knowledge.search', { knowledge_id: id, q: 'q' }))],
  'sub-workflow of a list': [
    'wf',
    (id) =>
      workflowWith(withNode('subworkflow', { workflow_id: { $ref: 'input.which' }, workflow_ids: [ours.wf, id] })),
  ],
  'credential of an approving agent': ['cred', (id) => workflowWith(gate({ approvers: [agent(id)] }))],
  'credential of an agent to escalate to': [
    'cred',
    (id) => workflowWith(gate({ due_in_s: 9, on_due: 'escalate', escalate_to: [agent(id)] })),
  ],
  'credential of one agent to escalate to': [
    'cred',
    (id) => workflowWith(gate({ due_in_s: 9, on_due: 'escalate', escalate_to: agent(id) })),
  ],
  'credential of a model': ['cred', (id) => workflowWith(withNode('llm.generate', { prompt: 'p', credential_id: id }))],
  'fallback of a model': [
    'cred',
    (id) => workflowWith(withNode('llm.generate', { prompt: 'p', fallback_credential_id: id })),
  ],
  'credential of an extraction': [
    'cred',
    (id) => workflowWith(withNode('llm.extract', { ...extraction, credential_id: id })),
  ],
  'fallback of an extraction': [
    'cred',
    (id) => workflowWith(withNode('llm.extract', { ...extraction, fallback_credential_id: id })),
  ],
  'credential of a review': ['cred', (id) => workflowWith(withNode('agent.review', { ...review, credential_id: id }))],
  'fallback of a review': [
    'cred',
    (id) => workflowWith(withNode('agent.review', { ...review, fallback_credential_id: id })),
  ],
  'credential of an agent': ['cred', (id) => workflowWith(withNode('agent.run', { goal: 'g', credential_id: id }))],
  'fallback of an agent': [
    'cred',
    (id) => workflowWith(withNode('agent.run', { goal: 'g', fallback_credential_id: id })),
  ],
  'credential of the tool server of an agent': [
    'cred',
    (id) =>
      workflowWith(withNode('agent.run', { goal: 'g', mcp: { url: 'https://api.example.com', credential_id: id } })),
  ],
  'credential of a tool of an agent': [
    'cred',
    (id) => workflowWith(withNode('agent.run', { goal: 'g', tools: [{ ...tool, credential_id: id }] })),
  ],
  'credential fixed for a tool of an agent': [
    'cred',
    (id) =>
      workflowWith(
        withNode('agent.run', {
          goal: 'g',
          tools: [{ type: 'http.request', arguments: { fixed: { credential_id: id } } }],
        }),
      ),
  ],
  'dataset fixed for a tool of an agent': [
    'ds',
    (id) =>
      workflowWith(
        withNode('agent.run', {
          goal: 'g',
          tools: [{ type: 'dataset.read', arguments: { fixed: { dataset_id: id } } }],
        }),
      ),
  ],
  'workflow of a tool of an agent': [
    'wf',
    (id) => workflowWith(withNode('agent.run', { goal: 'g', tools: [{ workflow_id: id }] })),
  ],
  'credential of who approves a tool': ['cred', (id) => workflowWith(toolGate({ approvers: [agent(id)] }))],
  'credential of an agent to escalate a tool to': [
    'cred',
    (id) => workflowWith(toolGate({ due_in_s: 9, on_due: 'escalate', escalate_to: [agent(id)] })),
  ],
  'credential of one agent to escalate a tool to': [
    'cred',
    (id) => workflowWith(toolGate({ due_in_s: 9, on_due: 'escalate', escalate_to: agent(id) })),
  ],
  'dataset a node writes': ['ds', (id) => workflowWith(withNode('dataset.write', { dataset_id: id, records: [{}] }))],
  'dataset a node profiles': ['ds', (id) => workflowWith(withNode('dataset.profile', { dataset_id: id }))],
  'credential of a service call': [
    'cred',
    (id) =>
      workflowWith(
        withNode('service.call', {
          service: 'slack',
          action: 'send_message',
          credential_id: id,
          args: { channel: 'C1' },
        }),
      ),
  ],
}

/** Fields that only an owner of the workspace may set. */
const byOwner = new Set([
  'company a workspace moves to',
  'plan of a subscription',
  'credential of the language model',
  'fallback of the language model',
])

/** Fields that refuse our id too: it is a suite of another workflow, or a credential of another kind. */
const refusesOurs = new Set([
  'suite before activation of a new one',
  'credential of embeddings',
  'credential embeddings change to',
  'channel a person links',
])

describe('an id inside a body', () => {
  for (const [place, [prefix, request]] of Object.entries(places)) {
    test(`${place}: an id of another workspace, a random id and a malformed id are refused with the same response`, async () => {
      const caller = byOwner.has(place) ? cast.workspaceOwner : cast.author
      const ask = (id: string): Promise<Answer> => {
        const [method, path, body] = request(id)
        return caller.call(method, path, { body, headers: { 'x-request-id': 'the-same' } })
      }
      const given = [theirs[prefix] ?? toWire(prefix, newId()), toWire(prefix, newId()), `${prefix}_nonsense`]
      const answers: Answer[] = []
      for (const id of given) answers.push(await ask(id))
      expect(answers[0]!.body, JSON.stringify(answers[0]!.body.errors)).toMatchObject({
        status: 422,
        code: 'unknown_reference',
      })
      expect(new Set(answers.map(({ text }) => text)).size, answers.map(({ text }) => text).join('\n')).toBe(1)
      // The same request with our id is accepted, which proves that the id was the reason for the refusal.
      if (ours[prefix] === undefined || caller !== cast.author || refusesOurs.has(place)) return
      const { status, body } = await ask(prefix === 'usr' ? cast.member.id : ours[prefix])
      expect([status < 300 || body.code !== 'unknown_reference', status]).toEqual([true, expect.any(Number)])
    })
  }
})

/** Fields with ids that need no request above, with the reason. */
const elsewhere: Record<string, string> = {
  'POST /auth/api-keys/delete /key_ids/*': 'each id has a result of its own: see the tests of bulk operations',
  'POST /api/workflows/delete /workflow_ids/*': 'each id has a result of its own: see the tests of bulk operations',
  'POST /api/executions/bulk /filter/execution_ids/*':
    'each id has a result of its own: see the tests of bulk operations',
  'POST /api/executions/bulk /filter/workflow_id': 'a filter: nothing matches',
  'POST /api/workflows/{workflow_id}/versions/{version_id}/replay /filter/version_id': 'a filter: nothing matches',
  'POST /api/workflows/{workflow_id}/versions/{version_id}/replay /execution_ids/*': 'a filter: nothing matches',
  'POST /api/workflows/import /expected_version_id': 'a precondition: any other than the active one is 412',
  'POST /api/notifications/read /notification_ids/*': "a filter over the caller's own",
  'POST /api/notifications/read /up_to': "a filter over the caller's own",
  'POST /api/notifications/read /workspace_id': "a filter over the caller's own",
  'POST /api/notifications/delete /notification_ids/*': "a filter over the caller's own",
  'POST /api/notifications/delete /workspace_id': "a filter over the caller's own",
  'POST /api/notifications /user_id': 'only the caller: any other id is read_only',
  'POST /api/presence /user_id': 'only the caller: any other id is read_only',
  'PATCH /api/payments/subscriptions/me /plan_id': 'plans are the same for everybody',
  'POST /api/approvals/{request_id}/delegate /user_id': 'see the tests of delegation',
  'POST /api/workflows/executions/{execution_id}/respond /clarification_id': 'see the tests of questions',
  'POST /api/embed/template/{template_id}/executions/{execution_id}/respond /clarification_id':
    'see the tests of widgets',
  'POST /api/embed/workflow/{workflow_id}/executions/{execution_id}/respond /clarification_id':
    'see the tests of widgets',
  'POST /api/embed/template/{template_id}/thread/{thread_id}/action /form_id': 'see the tests of conversations',
  'POST /api/chat-thread/{thread_id}/action /form_id': 'see the tests of conversations',
  'PATCH /api/conversations/{thread_id} /assignee_id': 'see the tests of the inbox',
  'POST /api/conversations/{thread_id}/read /message_id': 'see the tests of the inbox',
  'POST /api/services/{service}/test /credential_id':
    'only for services with code of their own: see the tests of pieces',
}

type Shape = {
  $ref?: string
  examples?: unknown[]
  properties?: Record<string, Shape>
  items?: Shape
  anyOf?: Shape[]
  oneOf?: Shape[]
  allOf?: Shape[]
  additionalProperties?: Shape | boolean
  'x-id'?: string
}
type Operation = { requestBody?: { content: Record<string, { schema: Shape }> } }
const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Shape> }
}

const isId = ({ examples }: Shape): boolean =>
  examples?.some((example) => /^[a-z]+_01kf3v6h2he3wtpk1fw5c0wz9d$/.test(String(example))) === true

/** Returns the paths of all schemas within a schema that `wanted` accepts, with `*` for an item of a list. */
function pathsIn(given: Shape, wanted: (schema: Shape) => boolean, at = '', above: string[] = []): string[] {
  if (given.$ref && above.includes(given.$ref)) return []
  const within = given.$ref ? [...above, given.$ref] : above
  const schema = given.$ref ? document.components.schemas[given.$ref.split('/').at(-1)!]! : given
  const { properties = {}, items, anyOf = [], oneOf = [], allOf = [], additionalProperties } = schema
  return [
    ...(wanted(schema) ? [at] : []),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((each) => pathsIn(each, wanted, at, within)),
    ...Object.entries(properties).flatMap(([name, inner]) => pathsIn(inner, wanted, `${at}/${name}`, within)),
    ...[items, additionalProperties].flatMap((inner) =>
      typeof inner === 'object' ? pathsIn(inner, wanted, `${at}/*`, within) : [],
    ),
  ]
}

/** Returns the paths in a value at which a text is, with `*` for each position of a list. */
function placesOf(text: string, value: unknown, at = ''): string[] {
  if (value === text) return [at]
  if (typeof value !== 'object' || value === null) return []
  const step = (key: string) => (Array.isArray(value) ? '*' : key)
  return Object.entries(value).flatMap(([key, inner]) => placesOf(text, inner, `${at}/${step(key)}`))
}

const MARK = 'the-id'
const operationOf = (method: string, path: string): string => {
  const matches = (one: string) => new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path)
  const known = Object.keys(document.paths)
  return `${method} ${known.includes(path) ? path : known.find(matches)}`
}

test('every field of a body that contains an id has a request or a reason here', () => {
  const covered = Object.values(places).flatMap(([, request]) => {
    const [method, path, body] = request(MARK)
    return placesOf(MARK, body).map((at) => `${operationOf(method, path)} ${at}`)
  })
  const taken = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) =>
      Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        pathsIn(schema, isId).map((at) => `${method.toUpperCase()} ${path} ${at}`),
      ),
    ),
  )
  expect(taken.length).toBeGreaterThan(80)
  expect(taken.filter((one) => !covered.includes(one) && !(one in elsewhere))).toEqual([])
  expect(Object.keys(elsewhere).filter((one) => !taken.includes(one) || covered.includes(one))).toEqual([])
})

type Node = { type: string; args: { body?: { nodes: Node[] } } }
const nodesIn = (nodes: Node[]): Node[] => nodes.flatMap((node) => [node, ...nodesIn(node.args.body?.nodes ?? [])])

test('every argument of a node that contains an id has a request here', () => {
  const covered = Object.values(places).flatMap(([, request]) => {
    const { definition } = request(MARK)[2] as { definition?: { nodes: Node[] } }
    return nodesIn(definition?.nodes ?? []).flatMap(({ type, args }) =>
      placesOf(MARK, args).map((at) => `${type} ${at}`),
    )
  })
  const taken = [...service().app.nodes].flatMap(([type, { args_schema }]) =>
    pathsIn(args_schema as Shape, (schema) => schema['x-id'] !== undefined).map((at) => `${type} ${at}`),
  )
  expect(taken.length).toBeGreaterThan(10)
  expect(taken.filter((one) => !covered.includes(one))).toEqual([])
})
