import { type Cases, type Cast, type Prepared, rows, withChanges } from './matrix.ts'
import { unseen, withBody, workflow } from './workflows.ts'

const token =
  (path: string, more: Partial<Prepared> = {}) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await workflow(cast)
    const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/${path}`, { body: {} })
    return { params: { ...params, token_id: body.token_id }, ...more }
  }

const schedule = { cron: '0 9 * * *', timezone: 'UTC' }

async function scheduled(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  await cast.author.call('PUT', `/api/workflows/${params!.workflow_id}/schedule`, { body: schedule })
  return { params: params! }
}

const oneSchedule =
  (body?: unknown) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await workflow(cast)
    const made = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/schedules`, { body: schedule })
    return { params: { ...params, schedule_id: made.body.schedule_id }, ...(body !== undefined && { body }) }
  }

async function hook(cast: Cast): Promise<Prepared> {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/tokens`, { body: {} })
  return { params: params!, token: body.token, body: {} }
}

/** Prepares a token in the address: every caller who has the address may call it. */
const inbound =
  (method: string) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await workflow(cast)
    const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/tokens`, {
      body: { auth: 'url', methods: [method] },
    })
    return { params: { token_or_id: body.token } }
  }

const byAddress = (method: string) => ({
  expect: rows.anyone,
  prepare: inbound(method),
  plainParameters: ['token_or_id'],
})

async function hooked(cast: Cast): Promise<Prepared> {
  const prepared = await hook(cast)
  const { body } = await cast.service.call('POST', `/api/webhooks/workflow/${prepared.params!.workflow_id}/trigger`, {
    token: prepared.token!,
    body: {},
  })
  return { params: { ...prepared.params, execution_id: body.execution_id }, token: prepared.token! }
}

/** Polls an address that is refused, so that no request leaves the machine. */
const newTrigger = { service: 'rss', trigger: 'new_item', args: { url: 'http://127.0.0.1:9/feed' } }

const triggered = async (cast: Cast) => {
  const { params } = await workflow(cast)
  const { body } = await cast.author.call('POST', `/api/workflows/${params!.workflow_id}/triggers`, {
    body: newTrigger,
  })
  return { params: { ...params, trigger_id: body.trigger_id as string } }
}

export const startCases: Cases = {
  listTriggers: { expect: withChanges(rows.ownerOrMember, unseen), prepare: workflow },
  createTrigger: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody(newTrigger) },
  getTrigger: { expect: withChanges(rows.ownerOrMember, unseen), prepare: triggered },
  updateTrigger: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: async (cast) => ({ ...(await triggered(cast)), body: { enabled: false } }),
  },
  deleteTrigger: { expect: withChanges(rows.ownerOnly, unseen), prepare: triggered },
  listWebhookTokens: { expect: withChanges(rows.ownerOrMember, unseen), prepare: workflow },
  createWebhookToken: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody({}) },
  getWebhookToken: { expect: withChanges(rows.ownerOrMember, unseen), prepare: token('tokens') },
  updateWebhookToken: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: token('tokens', { body: { enabled: false } }),
  },
  deleteWebhookToken: { expect: withChanges(rows.ownerOnly, unseen), prepare: token('tokens') },
  listEmbedTokens: { expect: withChanges(rows.ownerOrMember, unseen), prepare: workflow },
  createEmbedToken: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody({}) },
  getEmbedToken: { expect: withChanges(rows.ownerOrMember, unseen), prepare: token('embed-tokens') },
  updateEmbedToken: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: token('embed-tokens', { body: { enabled: false } }),
  },
  deleteEmbedToken: { expect: withChanges(rows.ownerOnly, unseen), prepare: token('embed-tokens') },
  listSchedules: { expect: withChanges(rows.anyMember, unseen), prepare: scheduled },
  createSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody(schedule) },
  getOneSchedule: { expect: withChanges(rows.anyMember, unseen), prepare: oneSchedule() },
  updateSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: oneSchedule({ enabled: false }) },
  removeSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: oneSchedule() },
  backfillSchedule: {
    expect: withChanges(rows.ownerOnly, unseen),
    prepare: oneSchedule({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
  },
  getSchedule: { expect: withChanges(rows.anyMember, unseen), prepare: scheduled },
  putSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: withBody(schedule) },
  deleteSchedule: { expect: withChanges(rows.ownerOnly, unseen), prepare: scheduled },
  triggerWebhook: { expect: rows.byToken, prepare: hook },
  getWebhookExecution: { expect: rows.byToken, prepare: hooked },
  listWebhookDeliveries: { expect: withChanges(rows.ownerOrMember, unseen), prepare: token('tokens') },
  receiveByGet: byAddress('GET'),
  receiveByPost: byAddress('POST'),
  receiveByPut: byAddress('PUT'),
  receiveByPatch: byAddress('PATCH'),
  receiveByDelete: byAddress('DELETE'),
  readWebhookResults: { expect: rows.byToken, prepare: hooked },
}
