import { readFileSync } from 'node:fs'
import { until } from '#test/harness/until'
import { type Cases, type Cast, type Prepared, rows, withChanges } from './matrix.ts'
import { makeWorkflow } from './workflows.ts'

const definition = {
  inputs: {
    type: 'object',
    properties: { colour: { type: 'string' }, picture: { type: 'object', required: ['$file'] } },
    required: ['colour'],
  },
  nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which colour?', schema: { type: 'string' } } }],
  edges: [],
  output: null,
}

async function template(cast: Cast): Promise<Prepared & { params: { template_id: string } }> {
  const workflowId = await makeWorkflow(cast, definition)
  const { body, text } = await cast.author.call('POST', '/api/templates', {
    body: { name: 'Case', workflow_ids: [workflowId] },
  })
  if (!body?.template_id) throw new Error(text)
  return { params: { template_id: body.template_id } }
}

const withBody =
  (body: unknown) =>
  async (cast: Cast): Promise<Prepared> => ({ ...(await template(cast)), body })

const token =
  (more: Partial<Prepared> = {}) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await template(cast)
    const { body } = await cast.author.call('POST', `/api/templates/${params.template_id}/embed-tokens`, { body: {} })
    return { params: { ...params, token_id: body.token_id }, ...more }
  }

/** Creates a widget with a visitor. The matrix sends the right embed token for all callers but the first two kinds. */
async function widget(cast: Cast) {
  const { params } = await template(cast)
  const { body } = await cast.author.call('POST', `/api/templates/${params.template_id}/embed-tokens`, { body: {} })
  const path = `/api/embed/template/${params.template_id}`
  const config = await cast.service.call('GET', `${path}/config`, { token: body.token })
  const headers = { 'x-visitor-token': config.body.visitor_token as string }
  const call = (method: string, at: string, sent?: unknown) =>
    cast.service.call(method, path + at, { token: body.token, headers, ...(sent !== undefined && { body: sent }) })
  return { params, token: body.token as string, headers, call }
}

const inWidget =
  (more: Partial<Prepared> = {}) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params, token: given, headers } = await widget(cast)
    return { params, token: given, ...more, headers: { ...headers, ...more.headers } }
  }

async function talking(cast: Cast) {
  const { call, ...one } = await widget(cast)
  const { body } = await call('POST', '/chat', { message: '1' })
  return { ...one, call, thread: body.thread_id as string, form: body.form.form_id as string }
}

async function form(cast: Cast): Promise<Prepared> {
  const { params, token: given, headers, thread, form: form_id } = await talking(cast)
  return { params: { ...params, thread_id: thread }, token: given, headers, body: { action: 'cancel', form_id } }
}

async function history(cast: Cast): Promise<Prepared> {
  const { body: _body, ...prepared } = await form(cast)
  return prepared
}

const waitForQuestion = (look: () => Promise<{ body: { question: unknown } }>): Promise<unknown> =>
  until(async () => (await look()).body.question, 'the question')

async function started(cast: Cast): Promise<Prepared> {
  const { params, token: given, headers, call, thread, form: form_id } = await talking(cast)
  const { body } = await call('POST', `/thread/${thread}/action`, {
    action: 'submit',
    form_id,
    values: { colour: 'red' },
  })
  await waitForQuestion(() => call('GET', `/execution/${body.execution_id}/status`))
  return { params: { ...params, execution_id: body.execution_id }, token: given, headers }
}

/** Prepares the widget of a workflow. */
const gathering =
  (more: Partial<Prepared> = {}) =>
  async (cast: Cast): Promise<Prepared> => {
    const workflowId = await makeWorkflow(cast, definition)
    const { body } = await cast.author.call('POST', `/api/workflows/${workflowId}/embed-tokens`, { body: {} })
    return { params: { workflow_id: workflowId }, token: body.token, ...more }
  }

async function gathered(cast: Cast): Promise<Prepared> {
  const { params, token: given } = await gathering()(cast)
  const path = `/api/embed/workflow/${params!.workflow_id}`
  const sent = { token: given!, body: { message: 'colour: red' } }
  const { body } = await cast.service.call('POST', `${path}/gather`, sent)
  const headers = { 'x-visitor-token': body.visitor_token as string }
  await waitForQuestion(() =>
    cast.service.call('GET', `${path}/executions/${body.execution_id}`, { token: given!, headers }),
  )
  return { params: { ...params, execution_id: body.execution_id }, token: given!, headers }
}

const answering =
  (prepare: (cast: Cast) => Promise<Prepared>) =>
  async (cast: Cast): Promise<Prepared> => ({ ...(await prepare(cast)), body: { response: 'blue' } })

const aFile = { raw: Buffer.from('hello'), headers: { 'content-type': 'text/plain' } }

async function filing(cast: Cast): Promise<Prepared> {
  const prepared = await gathering()(cast)
  const path = `/api/embed/workflow/${prepared.params!.workflow_id}/config`
  const { body } = await cast.service.call('GET', path, { token: prepared.token! })
  return { ...prepared, ...aFile, headers: { ...aFile.headers, 'x-visitor-token': body.visitor_token as string } }
}

const clip = readFileSync(new URL('../../server/providers/transcription/fixtures/voice.ogg', import.meta.url))

/**
 * The creator of the template and the owners of the workspace may change it; guests see only templates shared with
 * them.
 */
const ownerOfTemplate = withChanges(rows.ownerOnly, { guest: 404, workspaceOwner: 'ok' })

export const conversationCases: Cases = {
  extractRequirements: {
    expect: rows.selectedRead,
    prepare: async () => ({ body: { message: 'name: Ada', requirements: ['name'] } }),
  },
  listTemplates: { expect: rows.selectedRead },
  createTemplate: { expect: rows.selectedWrite, prepare: async () => ({ body: { name: 'Made' } }) },
  getTemplate: { expect: withChanges(rows.workspaceRead, { guest: 404 }), prepare: template },
  updateTemplate: { expect: ownerOfTemplate, prepare: withBody({ name: 'Renamed' }) },
  deleteTemplate: { expect: ownerOfTemplate, prepare: template },
  listTemplateTokens: { expect: withChanges(rows.workspaceWrite, { guest: 404 }), prepare: template },
  createTemplateToken: { expect: ownerOfTemplate, prepare: withBody({}) },
  getTemplateToken: { expect: withChanges(rows.workspaceWrite, { guest: 404 }), prepare: token() },
  updateTemplateToken: { expect: ownerOfTemplate, prepare: token({ body: { enabled: false } }) },
  deleteTemplateToken: { expect: ownerOfTemplate, prepare: token() },
  getWidgetConfig: { expect: rows.byToken, prepare: inWidget() },
  chatWithWidget: { expect: rows.byToken, prepare: inWidget({ body: { message: 'Hello' } }) },
  getWidgetExecution: { expect: rows.byToken, prepare: started },
  readWidgetResults: { expect: rows.byToken, prepare: started },
  respondThroughWidget: { expect: rows.byToken, prepare: answering(started) },
  actOnWidgetForm: { expect: rows.byToken, prepare: form },
  getWidgetHistory: { expect: rows.byToken, prepare: history },
  getWidgetMemory: { expect: rows.byToken, prepare: inWidget() },
  forgetWidgetVisitor: { expect: rows.byToken, prepare: inWidget() },
  speakThroughWidget: {
    expect: rows.byToken,
    prepare: inWidget({ body: { text: 'Hello.' } }),
    afterFirst: { body: { text: '' } },
  },
  transcribeThroughWidget: {
    expect: rows.byToken,
    prepare: inWidget({ raw: clip, headers: { 'content-type': 'audio/ogg' } }),
    afterFirst: { raw: 'no sound' },
  },
  uploadThroughWidget: { expect: rows.byToken, prepare: inWidget(aFile) },
  uploadForWorkflow: { expect: rows.byToken, prepare: filing },
  getWorkflowWidgetConfig: { expect: rows.byToken, prepare: gathering() },
  gatherInputs: { expect: rows.byToken, prepare: gathering({ body: { message: 'colour: red' } }) },
  getEmbeddedExecution: { expect: rows.byToken, prepare: gathered },
  readEmbeddedResults: { expect: rows.byToken, prepare: gathered },
  respondToEmbedded: { expect: rows.byToken, prepare: answering(gathered) },
}
