import { describe, expect, it } from 'vitest'
import { fromWire } from '#platform/ids'
import { checkPage } from '#test/harness/axe'
import { eventually, noBrowser, useSite } from '#test/harness/site'

const priced = (limit: number) => ({
  nodes: [{ id: 'price', type: 'set', args: { values: { due: { $cel: `input.amount > ${limit}.0 ? 1 : 2` } } } }],
  edges: [],
  output: { $ref: 'nodes.price.output.due' },
})

describe.skipIf(noBrowser)('replays', { timeout: 60_000 }, () => {
  const site = useSite()

  it('past runs are replayed with a version, and one replay is compared with its original', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const call = (path: string, body: object) => site().call(ada, 'POST', path, body)
    const { workflow_id } = await call('/api/workflows', { name: 'Prices', definition: priced(100) })
    for (const amount of [50, 150]) await call(`/api/workflows/${workflow_id}/run?wait_s=60`, { input: { amount } })
    await call(`/api/workflows/${workflow_id}/versions`, { definition: priced(200) })

    await page.goto(`/workflows/${workflow_id}/versions`)
    await page.getByRole('link', { name: 'Replay', exact: true }).first().click()
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await page.getByText('1 same, 1 different, 0 cannot be replayed').first().waitFor()
    expect(await checkPage(page)).toEqual([])
    await page.getByRole('button', { name: 'Compare run 1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Original' }).waitFor()
    await eventually(() => dialog.getByRole('region', { name: 'Changed results' }).textContent()).toContain('after: 2')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Replays' }).click()
    await page.getByRole('table', { name: 'Replays' }).getByText('1 same, 1 different').waitFor()
    expect(await checkPage(page)).toEqual([])
  })

  it('a version older than the newest hundred is offered and keeps its number', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Prices',
      definition: priced(100),
    })
    await site().service.sql(
      `insert into workflow_versions (workspace_id, version_id, workflow_id, number, definition, sha256, created_by, bytes)
       select workspace_id, gen_random_uuid(), workflow_id, n, definition, sha256, created_by, bytes
       from workflow_versions, generate_series(2, 120) n where workflow_id = $1`,
      [fromWire('wf', workflow_id)],
    )
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/versions?sort=created_at&limit=1`)
    await page.goto(`/workflows/${workflow_id}/replays?version=${items[0].version_id}`)
    const version = page.getByLabel('Version')
    await eventually(() => version.locator('option').count()).toBe(120)
    expect(await version.locator('option:checked').textContent()).toBe('Version 1 (active)')
  })
})
