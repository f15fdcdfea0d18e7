import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { eventually, navigateTo, noBrowser, useSite, type Visitor } from '#test/harness/site'

// The list of workflows: the state of each workflow, actions on one row or several, and saved views.

const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }

describe.skipIf(noBrowser)('the list of workflows', { timeout: 120_000 }, () => {
  const site = useSite()
  const make = async (by: Visitor, name: string, more: object = {}): Promise<string> =>
    (await site().call(by, 'POST', '/api/workflows', { name, definition, ...more })).workflow_id
  const rowOf = ({ page }: Visitor, name: string) => page.getByRole('row').filter({ hasText: name })

  it('shows the state of each workflow, and a row is duplicated, tagged, paused and exported', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const id = await make(ada, 'Orders', { tags: ['shop'] })
    await site().call(ada, 'POST', `/api/workflows/${id}/run?wait_s=60`, {})
    await site().call(ada, 'POST', `/api/workflows/${id}/schedules`, { cron: '0 9 * * *', timezone: 'UTC' })
    await page.goto('/')
    await navigateTo(page, '/workflows')
    const row = rowOf(ada, 'Orders').first()
    for (const text of ['shop', 'live', 'Succeeded', 'Schedule', 'you']) await row.getByText(text).first().waitFor()

    await row.getByRole('button', { name: 'Actions for Orders' }).click()
    await page.getByRole('menuitem', { name: 'Pause' }).click()
    await row.getByText('paused').waitFor()
    await row.getByRole('button', { name: 'Actions for Orders' }).click()
    await page.getByRole('menuitem', { name: 'Tags…' }).click()
    await page.getByRole('dialog').getByLabel('Tags').fill('shop, daily')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await row.getByText('daily').waitFor()

    await row.getByRole('button', { name: 'Actions for Orders' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toBe('orders.json')

    await row.getByRole('button', { name: 'Actions for Orders' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await page.getByRole('heading', { name: 'Copy of Orders' }).waitFor()
    const { items } = await site().call(ada, 'GET', '/api/workflows?q=Copy&include=activity')
    expect(items).toMatchObject([{ tags: ['shop', 'daily'], activity: { last_run: null, starts: [] } }])
  })

  it('has filters that are saved as a view', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await make(ada, 'Orders', { tags: ['shop'] })
    await make(ada, 'Payroll', { tags: ['people'] })
    await page.goto('/')
    await navigateTo(page, '/workflows')
    await page.getByLabel('Tag').selectOption('people')
    await rowOf(ada, 'Orders').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Of people')
    await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
    const view = page.getByRole('list', { name: 'Saved views' }).getByRole('button', { name: 'Of people', exact: true })
    await view.waitFor()
    await page.getByLabel('Tag').selectOption('')
    await rowOf(ada, 'Orders').waitFor()
    // The service stores the view, so it exists in another browser too.
    await page.evaluate(() => localStorage.clear())
    await page.reload()
    await view.click()
    await rowOf(ada, 'Orders').waitFor({ state: 'detached' })
    await rowOf(ada, 'Payroll').waitFor()
    await page.getByLabel('State').selectOption('paused')
    await page.getByText('No workflow matches').waitFor()
    await page.getByRole('button', { name: 'Remove the view Of people' }).click()
    await view.waitFor({ state: 'detached' })
  })

  it('pauses, tags and exports several workflows at once, and another workspace imports them', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const inner = await make(ada, 'Inner')
    await make(ada, 'Outer', {
      definition: { nodes: [{ id: 'c', type: 'subworkflow', args: { workflow_id: inner, input: {} } }], edges: [] },
    })
    await page.goto('/')
    await navigateTo(page, '/workflows')
    for (const name of ['Inner', 'Outer']) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    const bar = page.getByRole('toolbar', { name: 'Selected' })
    await bar.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('2 workflows paused').waitFor()
    await bar.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('2 workflows resumed').waitFor()
    await bar.getByRole('button', { name: 'Add tag' }).click()
    await page.getByRole('dialog').getByLabel('Tag').fill('moved')
    await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click()
    await rowOf(ada, 'Outer').getByText('moved').waitFor()
    const download = page.waitForEvent('download')
    await bar.getByRole('button', { name: 'Export' }).click()
    const file = await (await download).path()
    expect(JSON.parse(await readFile(file, 'utf8')).workflows).toHaveLength(2)

    const bob = await site().signUp('Bob')
    await bob.page.goto('/workflows')
    await bob.page.getByLabel('File of a workflow').setInputFiles({
      name: 'workflows.json',
      mimeType: 'application/json',
      buffer: await readFile(file),
    })
    await bob.page.getByText('2 workflows were imported').waitFor()
    await rowOf(bob, 'Outer').waitFor()
    const { items } = await site().call(bob, 'GET', '/api/workflows?q=Inner')
    await navigateTo(bob.page, `/workflows/${items[0].workflow_id}`)
    const used = bob.page.getByRole('list', { name: 'Where it is used' })
    await eventually(() => used.textContent()).toContain('Outercalls it')
  })

  it('the runs of jobs have their own list', async () => {
    const ada = await site().signUp('Ada')
    await ada.page.goto('/')
    await navigateTo(ada.page, '/runs')
    const kinds = ada.page.getByRole('navigation', { name: 'Kinds of runs' })
    await kinds.getByRole('link', { name: 'Runs of jobs' }).click()
    await eventually(() => kinds.getByRole('link', { name: 'Runs of jobs' }).getAttribute('aria-current')).toBe('page')
    expect(ada.page.url()).toContain('trigger=job')
  })

  it('runs that a search found are selected and retried', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Breaks',
      definition: { nodes: [{ id: 'f', type: 'fail', args: { code: 'broken', message: 'on purpose' } }], edges: [] },
    })
    const run = (word: string) =>
      site().call(ada, 'POST', `/api/workflows/${workflow_id}/run?wait_s=20`, { input: { word } })
    for (const word of ['ciabatta', 'ciabatta', 'focaccia']) await run(word)
    await page.goto('/runs')
    const rows = page.getByRole('table', { name: 'Runs' }).getByRole('row', { name: /Breaks/ })
    await eventually(() => rows.count()).toBe(3)
    await page.getByRole('searchbox', { name: 'Search' }).fill('ciabatta')
    await eventually(() => rows.count()).toBe(2)
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('toolbar', { name: 'Selected' }).getByRole('button', { name: 'Retry runs' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Retry runs' }).click()
    await page.getByText('Done: 2 of 2 runs').waitFor()
    const again = async (): Promise<number> => {
      const { items } = await site().call(ada, 'GET', `/api/executions?workflow_id=${workflow_id}`)
      return items.filter(({ retry_of }: { retry_of: string | null }) => retry_of !== null).length
    }
    expect(await again()).toBe(2)

    // All runs that match the search and the filters, without selecting them.
    await page.getByLabel('State').selectOption('failed,timed_out')
    await page.getByRole('searchbox', { name: 'Search' }).fill('focaccia')
    await eventually(() => rows.count()).toBe(1)
    await page.getByRole('button', { name: 'Retry all' }).click()
    await page.getByRole('alertdialog').getByText('that the search and the filters find').waitFor()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Retry runs' }).click()
    await page.getByText('Done: 1 of 1 runs').waitFor()
    expect(await again()).toBe(3)
  })

  it('runs are searched, and their filters are saved as a view', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Echo',
      definition: { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] },
    })
    const run = (word: string) =>
      site().call(ada, 'POST', `/api/workflows/${workflow_id}/run?wait_s=20`, { input: { word } })
    await run('pumpernickel')
    await run('baguette')
    await page.goto('/')
    await navigateTo(page, '/runs')
    const rows = page.getByRole('table', { name: 'Runs' }).getByRole('row', { name: /Echo/ })
    await eventually(() => rows.count()).toBe(2)
    await page.getByRole('searchbox', { name: 'Search' }).fill('pumpernickel')
    await eventually(() => rows.count()).toBe(1)
    await page.getByRole('searchbox', { name: 'Search' }).fill('')
    await page.getByLabel('State').selectOption('failed,timed_out')
    await page.getByText('No matching runs').waitFor()
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Broken')
    await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await eventually(() => rows.count()).toBe(2)
    await page.getByRole('list', { name: 'Saved views' }).getByRole('button', { name: 'Broken', exact: true }).click()
    await page.getByText('No matching runs').waitFor()
    expect(new URL(page.url()).searchParams.get('status')).toBe('failed,timed_out')
  })
})
