import { expect, test } from 'vitest'
import type { JsonObject } from '#model/definition'
import type { ServiceDetail } from '#sdk/types.generated'
import { changedServiceArgs, serviceArgsSchema } from './service-args.ts'
import { serviceKinds } from './service-kinds.ts'

const schema: JsonObject = {
  type: 'object',
  properties: { service: { type: 'string' }, action: { type: 'string' }, credential_id: { type: 'string' }, args: {} },
}
const detail = {
  service: 'slack',
  source: 'built_in',
  title: 'Slack',
  credentials: ['slack'],
  credential_required: true,
  actions: [
    {
      name: 'send_message',
      title: 'Send a message',
      args_schema: { type: 'object', properties: { channel: { type: 'string' } }, required: ['channel'] },
    },
    { name: 'list_users', title: 'List people', args_schema: { type: 'object', properties: {} } },
  ],
} as unknown as ServiceDetail

test('the form offers the actions of the service and the arguments of the chosen action', () => {
  const made = serviceArgsSchema(schema, { service: 'slack', action: 'send_message' }, [], detail)
  expect(made).toMatchObject({
    properties: { action: { enum: ['send_message', 'list_users'] }, args: { required: ['channel'] } },
    required: ['service', 'action', 'credential_id', 'args'],
  })
  const free = serviceArgsSchema(schema, { service: 'rss' }, [], {
    ...detail,
    credentials: [],
    credential_required: false,
  })
  expect(free.properties).not.toHaveProperty('credential_id')
})

test('another action keeps the arguments that it also has, and another service keeps none', () => {
  const before = { service: 'slack', action: 'send_message', args: { channel: 'C1' }, credential_id: 'cred_1' }
  expect(changedServiceArgs(before, { ...before, action: 'list_users' }, detail)).toMatchObject({
    args: {},
    credential_id: 'cred_1',
  })
  expect(changedServiceArgs(before, { ...before, service: 'rss' }, detail)).toEqual({
    service: 'rss',
    action: '',
    args: {},
  })
  expect(changedServiceArgs(before, { ...before, args: { channel: 'C2' } }, detail).args).toEqual({ channel: 'C2' })
})

test('every action is a palette entry whose defaults name its service and action', () => {
  const call = { type: 'service.call', title: 'Call a service', keywords: [] }
  const [first] = serviceKinds(call as never, [{ ...detail, keywords: ['chat'] } as never])
  expect(first).toMatchObject({
    type: 'service.call',
    key: 'service.call/slack/send_message',
    title: 'Slack: Send a message',
    defaults: { service: 'slack', action: 'send_message', args: {} },
  })
})
