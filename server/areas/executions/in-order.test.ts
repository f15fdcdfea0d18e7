import { expect, test } from 'vitest'
import type { Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { useSharedService } from '#test/harness/service'
import { makeWorld } from '#test/harness/world'
import { listBySystem, listByWorkflow } from './store.ts'

const service = useSharedService()
const listing = { oldestFirst: false, after: null, from: null, to: null, limit: 50 }

test.each<[string, (tx: Tx, workspaceId: string, userId: string) => Promise<unknown>]>([
  ['of a workflow', (tx, workspaceId) => listByWorkflow(tx, workspaceId, newId(), listing)],
  ['of a system workflow', (tx, workspaceId, userId) => listBySystem(tx, workspaceId, 'echo', userId, listing)],
])('executions %s are read in the order of an index, without sorting all of them', async (_what, list) => {
  const { owner, workspace } = await makeWorld(service())
  const plans: string[] = []
  const settings = await service().db.tenant({ workspaceId: workspace.uuid, userId: owner.uuid }, async (tx) => {
    // Returns no rows and records the query plan.
    const explaining = {
      rows: async (text: string, values: unknown[]) => {
        if (text.includes('set_config')) return tx.rows(text)
        const lines = await tx.rows<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
        plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'))
        return []
      },
    }
    await list({ ...tx, ...explaining } as unknown as Tx, workspace.uuid, owner.uuid)
    return tx.row<{ enable_sort: string }>('show enable_sort')
  })
  expect(plans.length).toBeGreaterThan(0)
  for (const plan of plans) {
    expect(plan).toContain('Index Scan')
    expect(plan).not.toMatch(/\bSort {2}\(/)
  }
  expect(settings.enable_sort).toBe('on')
})
