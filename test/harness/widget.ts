import type { Answer, CallOptions, Service } from './service.ts'
import { until } from './until.ts'
import type { TestPerson } from './world.ts'

// Helpers for a site with a widget: the requests of its page and the actions of its visitors.

export const SITE = 'https://shop.example'

/** A workflow that returns its input, so that a test sees what arrived. */
export const refund = {
  inputs: {
    type: 'object',
    properties: {
      order: { type: 'integer', title: 'order number', minimum: 1 },
      reason: { type: 'string', enum: ['damaged', 'late', 'unwanted'] },
      note: { type: 'string' },
    },
    required: ['order', 'reason'],
    additionalProperties: false,
  },
  nodes: [{ id: 'made', type: 'set', args: { values: { order: { $ref: 'input.order' } } } }],
  edges: [],
  output: { order: { $ref: 'input.order' }, reason: { $ref: 'input.reason' } },
}

export const askingWorkflow = (schema: unknown, who?: unknown) => ({
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which colour?', schema, ...(who ? { who } : {}) } }],
  edges: [],
  output: { colour: { $ref: 'nodes.ask.output' } },
})

export async function makeWorkflow(person: TestPerson, name: string, definition: unknown, more: object = {}) {
  const { body, text } = await person.call('POST', '/api/workflows', { body: { name, definition, ...more } })
  if (!body?.workflow_id) throw new Error(text)
  return body.workflow_id as string
}

export async function makeTemplate(person: TestPerson, workflowIds: string[], more: object = {}) {
  const { body, text } = await person.call('POST', '/api/templates', {
    body: { name: 'Shop assistant', workflow_ids: workflowIds, allowed_origins: [SITE], ...more },
  })
  if (!body?.template_id) throw new Error(text)
  return body.template_id as string
}

export async function makeToken(person: TestPerson, path: string, body: object = {}) {
  const made = await person.call('POST', `${path}/embed-tokens`, { body })
  if (!made.body?.token) throw new Error(made.text)
  return { token: made.body.token as string, tokenId: made.body.token_id as string }
}

export type Visitor = {
  templateId: string
  token: string
  visitorToken: string
  call(method: string, path: string, options?: Omit<CallOptions, 'token'>): Promise<Answer>
  chat(message: string, threadId?: string): Promise<Answer>
  history(threadId: string): Promise<{ role: string; text: string }[]>
  /** Polls as a widget does. */
  ended(executionId: string): Promise<Answer>
}

/** Opens the widget of a template as a visitor. */
export async function visit(
  service: Pick<Service, 'base' | 'call'>,
  templateId: string,
  token: string,
): Promise<Visitor> {
  const base = `/api/embed/template/${templateId}`
  const config = await service.call('GET', `${base}/config`, { token, headers: { origin: SITE } })
  if (config.status !== 200) throw new Error(config.text)
  const visitorToken = config.body.visitor_token as string
  const call: Visitor['call'] = (method, path, options = {}) =>
    service.call(method, base + path, {
      token,
      ...options,
      headers: { origin: SITE, 'x-visitor-token': visitorToken, ...options.headers },
    })
  return {
    templateId,
    token,
    visitorToken,
    call,
    chat: (message, threadId) => call('POST', '/chat', { body: { message, ...(threadId && { thread_id: threadId }) } }),
    history: async (threadId) => (await call('GET', `/thread/${threadId}/history?limit=200`)).body.items,
    ended: (executionId) =>
      until(async () => {
        const answer = await call('GET', `/execution/${executionId}/status`)
        return ['succeeded', 'failed', 'cancelled', 'timed_out'].includes(answer.body.status) ? answer : undefined
      }, 'the execution to end'),
  }
}
