import { expect, test } from 'vitest'
import { newId } from '#platform/ids'
import { useService } from '#test/harness/service'
import { makeWorld } from '#test/harness/world'

const service = useService()

test('what is needed only for a while goes when its time is over, and nothing before', async () => {
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
