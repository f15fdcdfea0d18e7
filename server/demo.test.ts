import { expect, test } from 'vitest'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makePerson, makeWorkspace } from '#test/harness/world'
import { fillDemo } from './demo.ts'

const service = useSharedService()

test('the demo workflows run offline, with a question and an approval', async () => {
  const person = await makePerson(service())
  const workspace = await makeWorkspace(service(), person)
  await fillDemo(service().app.http, { user_id: person.uuid, workspace_id: workspace.uuid, key: person.key })
  const { items } = (await person.call('GET', '/api/workflows?limit=200')).body
  const idOf = (name: string): string => items.find((workflow: { name: string }) => workflow.name === name).workflow_id
  const run = async (name: string, input: unknown) =>
    (await person.call('POST', `/api/workflows/${idOf(name)}/run?wait_s=60`, { body: { input } })).body
  expect((await run('Welcome', { name: 'Ada' })).results).toBe('Hello Ada')
  expect(
    (
      await run('Order lines', {
        lines: [
          { sku: 'a', price: 2, count: 3 },
          { sku: 'b', price: 1, count: 4 },
        ],
      })
    ).results,
  ).toEqual({ lines: 2, total: 10 })
  const { body } = await person.call('POST', `/api/workflows/${idOf('Expense claim')}/run`, {
    body: { input: { amount: 250 } },
  })
  await until(
    async () =>
      (
        await person.call('POST', `/api/workflows/executions/${body.execution_id}/respond`, {
          body: { response: 'Train' },
        })
      ).status === 202,
    'the question',
  )
  const gate = await until(async () => (await person.call('GET', '/api/approvals/inbox')).body.items[0], 'the gate')
  await person.call('POST', `/api/approvals/${gate.request_id}/votes`, {
    body: { decision: 'approve', payload_sha256: gate.payload_sha256 },
  })
  const done = await until(async () => {
    const view = (await person.call('GET', `/api/workflows/executions/${body.execution_id}`)).body
    return view.status === 'succeeded' ? view : undefined
  }, 'the end')
  expect(done.results).toBe('paid')
})
