import { expect } from 'vitest'
import type { Cast } from '../access/matrix.ts'

export const constant = { nodes: [{ id: 'a', type: 'set', args: { values: { a: 1 } } }], edges: [] }

/** Creates one thing of each kind that a body can name, and returns their ids. */
export async function furnish(person: Cast['author']): Promise<Record<string, string>> {
  const make = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const answer = await person.call('POST', path, { body })
    expect(answer.status, `${path}: ${answer.text}`).toBe(201)
    return answer.body
  }
  const workflow = await make('/api/workflows', { name: 'W', definition: constant })
  const spare = await make('/api/workflows', { name: 'To give away', definition: constant })
  const { team_id } = await make('/api/teams', { name: 'T' })
  const { dataset_id } = await make('/api/datasets', { name: 'D', records: [{ a: 1 }] })
  const { template_id } = await make('/api/templates', { name: 'P', workflow_ids: [] })
  const { company_id } = await make('/api/companies', { name: 'C' })
  const { credential_id } = await make('/api/credentials', {
    name: 'K',
    kind: 'bearer',
    hosts: ['api.example.com'],
    secrets: { token: 'a-token-to-guess' },
  })
  const { suite_id } = await make(`/api/workflows/${workflow.workflow_id}/suites`, {
    name: 'S',
    checks: [{ kind: 'cel', expression: 'true' }],
  })
  const spareCredential = await make('/api/credentials', {
    name: 'To give away',
    kind: 'bearer',
    hosts: ['api.example.com'],
    secrets: { token: 'a-token-to-give' },
  })
  const spareKnowledge = await make('/api/knowledge', { name: 'To give away' })
  const { knowledge_id } = await make('/api/knowledge', { name: 'B' })
  const { config_id } = await make('/api/gateway/channels', { channel: 'webhook', external_id: 'x', template_id })
  const { destination_id } = await make('/api/event-destinations', {
    url: 'https://hooks.example.com/in',
    event_types: ['execution.*'],
  })
  const { job_id } = await make('/api/enrichment-jobs', { name: 'J', workflow_id: workflow.workflow_id })
  const { rule_id } = await make('/api/alert-rules', {
    name: 'R',
    kind: 'failure_rate',
    workflow_id: workflow.workflow_id,
    threshold: 0.5,
  })
  return {
    usr: person.id,
    wf: workflow.workflow_id!,
    wfv: workflow.active_version_id!,
    spare: spare.workflow_id!,
    team: team_id!,
    ds: dataset_id!,
    tmpl: template_id!,
    co: company_id!,
    cred: credential_id!,
    spareCred: spareCredential.credential_id!,
    spareKb: spareKnowledge.knowledge_id!,
    suite: suite_id!,
    kb: knowledge_id!,
    chan: config_id!,
    dst: destination_id!,
    job: job_id!,
    rule: rule_id!,
  }
}
