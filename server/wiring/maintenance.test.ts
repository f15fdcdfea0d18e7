import { expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { startService, useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld } from '#test/harness/world'
import { deleteOldHistory } from './maintenance.ts'

const service = useService()

test('temporary data is deleted after its time, and not earlier', async () => {
  const { owner, workspace } = await makeWorld(service())
  const mail = (age: string) =>
    service().sql(
      `insert into mail_outbox (mail_id, workspace_id, idempotency_key, recipient, subject, created_at)
       values ($1, $2, $3::text, '{a@example.com}', $3::text, now() - $3::text::interval)`,
      [newId(), workspace.uuid, age],
    )
  await mail('31 days')
  await mail('29 days')
  await service().sql(
    `insert into invitations (invitation_id, workspace_id, email, role, token_hash, invited_by, expires_at)
     select gen_random_uuid(), $1, age, 'member', sha256(age::bytea), $2, now() - age::interval
     from unnest(array['31 days', '29 days']) age`,
    [workspace.uuid, owner.uuid],
  )
  await service().db.appPool.query('select forget_old()')
  expect(await service().sql(`select subject from mail_outbox where workspace_id = $1`, [workspace.uuid])).toEqual([
    { subject: '29 days' },
  ])
  expect(await service().sql(`select email from invitations where email like '%days'`)).toEqual([{ email: '29 days' }])
})

test('maintenance runs at the start of a process and deletes expired data', async () => {
  const { workspace } = await makeWorld(service())
  await service().sql(
    `insert into mail_outbox (mail_id, workspace_id, idempotency_key, recipient, subject, created_at)
     values ($1, $2, 'old', '{a@example.com}', 'Old', now() - interval '31 days')`,
    [newId(), workspace.uuid],
  )
  const next = await startService({ database: service().database, clearUpAtStart: true })
  const left = () => service().sql('select from mail_outbox where workspace_id = $1', [workspace.uuid])
  await until(async () => (await left()).length === 0, 'the deletion of the old mail')
  await next.stop()
})

test('read notifications and audit entries are deleted after the retention of executions, and unread notifications are kept', async () => {
  const { owner, workspace } = await makeWorld(service())
  // Different ids of that time.
  const then = `overlay(engine.first_id(now() - age::interval)::text placing right(gen_random_uuid()::text, 12) from 25)::uuid`
  const ages = `unnest(array['31 days', '31 days', '31 days', '29 days']) age`
  const notify = (title: string, readAt: string) =>
    service().sql(
      `insert into notifications (notification_id, user_id, workspace_id, kind, title, read_at, created_at)
       select ${then}, $1, $2, 'test', $3 || age, ${readAt}, now() - age::interval from ${ages}`,
      [owner.uuid, workspace.uuid, title],
    )
  await notify('read ', 'now()')
  await notify('unread ', 'null')
  await service().sql(
    `insert into audit_log (entry_id, workspace_id, actor_id, action, at) select ${then}, $1, $2, 'test.' || age, now() - age::interval from ${ages}`,
    [workspace.uuid, owner.uuid],
  )
  const shown = async (path: string, field: string) =>
    (await owner.call('GET', `${path}?limit=200`)).body.items
      .map((item: Record<string, string>) => item[field])
      .filter((text: string) => text.endsWith(' days'))
      .sort()
  const unread = ['unread 29 days', 'unread 31 days', 'unread 31 days', 'unread 31 days']
  expect(await shown('/api/audit-log', 'action')).toHaveLength(4)
  await deleteOldHistory(service().db, 30, 2)
  expect(await shown('/api/notifications', 'title')).toEqual(['read 29 days', ...unread])
  expect(await shown('/api/audit-log', 'action')).toEqual(['test.29 days'])
})
