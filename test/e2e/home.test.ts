import { describe, expect, it } from 'vitest'
import { eventually, navigateTo, noBrowser, useSite, type Visitor } from '#test/harness/site'
import { slow } from '#test/harness/slow'

// The home page: recent failures, the last weeks, the steps that are still to be set up, and where a new user starts.

const works = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
const fails = { nodes: [{ id: 'f', type: 'fail', args: { code: 'broken', message: 'on purpose' } }], edges: [] }

describe.skipIf(noBrowser)('home', { timeout: 120_000 }, () => {
  const site = useSite()
  const make = async (by: Visitor, name: string, definition: object): Promise<string> =>
    (await site().call(by, 'POST', '/api/workflows', { name, definition })).workflow_id
  const run = (by: Visitor, id: string) => site().call(by, 'POST', `/api/workflows/${id}/run?wait_s=60`, {})

  slow('shows failures since yesterday and a chart of the last weeks, like the page of a workflow', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const good = await make(ada, 'Good', works)
    const bad = await make(ada, 'Bad', fails)
    for (const id of [good, good, bad]) await run(ada, id)
    await eventually(
      async () => (await site().call(ada, 'GET', '/api/insights/executions?group_by=workflow')).total.total,
    ).toBe(3)
    await page.goto('/')
    const broken = page.locator('section', { hasText: 'Failed since yesterday' })
    await broken.getByRole('link', { name: /Bad.*1 run of 1 failed/ }).waitFor()
    expect(await broken.getByText('Good').count()).toBe(0)
    const weeks = page.locator('section', { hasText: 'Last 14 days' })
    await eventually(() => weeks.locator('figcaption').textContent()).toMatch(/2 succeeded, 1 failed/)
    expect(await weeks.getByText('33.3 %').count()).toBe(1)
    await broken.getByRole('link', { name: /Bad/ }).click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    await eventually(() => page.getByRole('table', { name: 'Runs' }).getByRole('row').count()).toBe(2)

    await navigateTo(page, `/workflows/${good}`)
    await eventually(() =>
      page.locator('section', { hasText: 'Last 14 days' }).locator('figcaption').textContent(),
    ).toMatch(/2 succeeded, 0 failed/)
  })

  it('lists the open setup steps of a new workspace until they are done or hidden', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const id = await make(ada, 'First', works)
    await page.goto('/')
    const list = page.locator('section', { hasText: 'Getting started' })
    await list.getByText('1 of 5 done').waitFor()
    await list.getByRole('link', { name: /Run it once \(to do\)/ }).waitFor()
    await run(ada, id)
    await site().call(ada, 'POST', `/api/workflows/${id}/tokens`, { name: 'Shop' })
    await page.goto('/')
    await list.getByText('3 of 5 done').waitFor()
    await list.getByRole('link', { name: /Start it automatically \(done\)/ }).waitFor()
    await list.getByRole('button', { name: 'Hide getting started' }).click()
    await list.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'Recent runs' }).waitFor()
    expect(await list.count()).toBe(0)
  })

  it('shows an invited colleague the workflows and their owners, then the workflows that were shared', async () => {
    const ada = await site().signUp('Ada')
    const id = await make(ada, 'Invoices', works)
    const ben = await site().invite(ada, 'Ben')
    await ben.page.goto('/')
    const there = ben.page.locator('section', { hasText: 'In this workspace' })
    await there.getByRole('link', { name: /Invoices\s*Owner: Ada/ }).waitFor()
    const { user } = await site().call(ben, 'GET', '/auth/me')
    await site().call(ada, 'PATCH', `/api/workflows/${id}`, { members: [{ user_id: user.user_id, role: 'member' }] })
    await ben.page.reload()
    await ben.page.getByRole('link', { name: /^Run Invoices/ }).waitFor()
    expect(await there.count()).toBe(0)
  })
})
