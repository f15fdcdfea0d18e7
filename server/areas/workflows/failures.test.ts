import { expect, test } from 'vitest'
import type { EndedExecution } from '#engine/ports'
import type { Database, Tx } from '#platform/db/pool'
import { newId } from '#platform/ids'
import { makeFailures, type TargetRow } from './failures.ts'

// A full queue has 100,000 executions, so the database is replaced here.

const workflowId = newId()
const owner = newId()
const target: TargetRow = {
  workflow_id: workflowId,
  settings: { error_workflow_id: newId() },
  owner_id: owner,
  name: 'W',
  description: null,
  version_id: newId(),
  inputs: null,
  principal_id: owner,
  activation_required: false,
}
const failed: EndedExecution = {
  workspaceId: newId(),
  executionId: newId(),
  workflowId,
  versionId: target.version_id,
  systemSlug: null,
  status: 'failed',
  results: null,
  error: { code: 'failed', message: 'it failed' },
  trigger: { kind: 'user', id: null },
  startedBy: null,
  initiatedBy: [],
  principalId: owner,
  finishedAt: new Date(),
}

test.each([
  ['is reported again while the queue of the error workflow is full', 'queue_full', true],
  ['is reported once after the error workflow was accepted', 'accepted', false],
])('the failure of an execution %s', async (_what, outcome, isThrown) => {
  const calls: string[] = []
  const tx = {
    count: async () => 1,
    maybe: async () => ({ user_id: owner, owner_id: owner }),
    hint: () => {},
    row: async (text: string) => (text.includes('engine.start') ? { outcome } : { quiet: true, input: {} }),
  } as unknown as Tx
  const db = { tenant: (_scope: unknown, work: (tx: Tx) => unknown) => work(tx) } as unknown as Database
  const quota = {
    take: async () => {
      calls.push('take')
    },
    giveBack: () => {
      calls.push('give back')
    },
  }
  const report = makeFailures({ db, quota, findTarget: async () => target })(failed)
  if (isThrown) await expect(report).rejects.toMatchObject({ code: 'queue_full' })
  else await report
  expect(calls).toEqual(isThrown ? ['take', 'give back'] : ['take'])
})
