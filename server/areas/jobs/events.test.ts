import { expect, test } from 'vitest'
import { useService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { DUE_HINTS, wakeRunners } from './events.ts'

const service = useService({ role: 'api' })

test('the runner of jobs is woken by the commit itself, even if every hint is lost', async () => {
  const { db } = service()
  let heard = 0
  const off = await db.listen(DUE_HINTS, () => {
    heard += 1
  })
  const scope = { workspaceId: null, userId: null }
  await db.tenant(scope, (tx) => wakeRunners({ ...tx, hint: () => {} }))
  await until(async () => heard === 1, 'the wake-up')
  // A transaction that is rolled back wakes no runner.
  await expect(
    db.tenant(scope, async (tx) => {
      await wakeRunners(tx)
      throw new Error('taken back')
    }),
  ).rejects.toThrow('taken back')
  await db.tenant(scope, wakeRunners)
  await until(async () => heard >= 2, 'the second wake-up')
  expect(heard).toBe(2)
  await off()
})
