import { expect, it } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { makeWorld } from '#test/harness/world'

const service = useSharedService()

it('a test message is sent at once, but not to an invalid recipient or through a disabled channel', async () => {
  const { owner, workspace } = await makeWorld(service())
  const template = await owner.call('POST', '/api/templates', { body: { name: 'Support' } })
  const made = await owner.call('POST', '/api/gateway/channels', {
    body: {
      channel: 'email',
      external_id: 'support@example.com',
      template_id: template.body.template_id,
      credentials: { inbound_secret: 'a secret of ours' },
    },
  })
  const path = `/api/gateway/channels/${made.body.config_id}`
  const sent = await owner.call('POST', `${path}/test`, { body: { to: 'ada@example.com', text: 'Do you hear me?' } })
  expect(sent).toMatchObject({ status: 200, body: { state: 'sent', problem: null } })
  const [mail] = await service().sql<{ recipient: string[]; body_text: string }>(
    'select recipient, body_text from mail_outbox where workspace_id = $1',
    [workspace.uuid],
  )
  expect(mail).toMatchObject({ recipient: ['ada@example.com'] })
  expect(mail!.body_text).toContain('Do you hear me?')

  const nobody = await owner.call('POST', `${path}/test`, { body: { to: 'nobody at all' } })
  expect(nobody).toMatchObject({ status: 422, body: { errors: [{ path: '/to' }] } })

  await owner.call('PATCH', path, { body: { enabled: false } })
  const disabled = await owner.call('POST', `${path}/test`, { body: { to: 'ada@example.com' } })
  expect(disabled).toMatchObject({ status: 403, body: { code: 'channel_disabled' } })
})

it('the vendor’s error message is returned', async () => {
  const { owner } = await makeWorld(service())
  const template = await owner.call('POST', '/api/templates', { body: { name: 'Hook' } })
  const made = await owner.call('POST', '/api/gateway/channels', {
    body: {
      channel: 'webhook',
      external_id: 'http://127.0.0.1:9/replies',
      template_id: template.body.template_id,
      credentials: { signing_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    },
  })
  const tried = await owner.call('POST', `/api/gateway/channels/${made.body.config_id}/test`, { body: { to: 'u1' } })
  expect(tried.status).toBe(200)
  expect(tried.body).toMatchObject({ state: 'failed', problem: expect.any(String) })
})
