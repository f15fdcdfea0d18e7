import { describe, expect, it } from 'vitest'
import { navigateTo, noBrowser, useSite } from '#test/harness/site'

// Search in lists, and actions on several rows.

const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }

describe.skipIf(noBrowser)('lists', { timeout: 90_000 }, () => {
  const site = useSite()

  it('are searched by the service, and show when nothing matches', async () => {
    const ada = await site().signUp('Ada')
    for (const name of ['Finance', 'Legal']) await site().call(ada, 'POST', '/api/teams', { name })
    await ada.page.goto('/')
    await navigateTo(ada.page, '/teams')
    await ada.page.getByRole('link', { name: 'Legal' }).waitFor()
    await ada.page.getByRole('searchbox', { name: 'Search' }).fill('FINAN')
    await ada.page.getByRole('link', { name: 'Legal' }).waitFor({ state: 'detached' })
    expect(await ada.page.getByRole('link', { name: 'Finance' }).count()).toBe(1)
    await ada.page.getByRole('searchbox', { name: 'Search' }).fill('no such team')
    await ada.page.getByText('Nothing matches').waitFor()
    await ada.page.getByRole('button', { name: 'Clear search' }).click()
    await ada.page.getByRole('link', { name: 'Legal' }).waitFor()
  })

  it('let several rows be selected: workflows are deleted, notifications marked and deleted', async () => {
    const ada = await site().signUp('Ada')
    for (const name of ['One', 'Two', 'Three']) await site().call(ada, 'POST', '/api/workflows', { name, definition })
    for (const title of ['First', 'Second']) await site().call(ada, 'POST', '/api/notifications', { title })
    await ada.page.goto('/')
    await navigateTo(ada.page, '/workflows')
    for (const name of ['One', 'Two']) await ada.page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await ada.page.getByText('2 selected').waitFor()
    await ada.page.getByRole('button', { name: 'Delete', exact: true }).click()
    await ada.page.getByRole('button', { name: 'Delete workflows' }).click()
    await ada.page.getByRole('link', { name: 'One' }).waitFor({ state: 'detached' })
    await ada.page.getByRole('link', { name: 'Two' }).waitFor({ state: 'detached' })
    await ada.page.getByRole('link', { name: 'Three' }).waitFor()

    await navigateTo(ada.page, '/notifications')
    await ada.page.getByRole('button', { name: 'Mark all as read' }).click()
    await ada.page.getByRole('button', { name: 'Mark all as read' }).waitFor({ state: 'detached' })
    await ada.page.getByRole('button', { name: 'Delete read', exact: true }).click()
    await ada.page.getByRole('button', { name: 'Delete read notifications' }).click()
    await ada.page.getByText('No notifications yet').waitFor()
  })

  it('have menus in their rows: a dataset is exported and deleted, a knowledge base is deleted', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await site().call(ada, 'POST', '/api/datasets', { name: 'Cities', records: [{ city: 'Bern' }] })
    await site().call(ada, 'POST', '/api/knowledge', { name: 'Handbook' })
    await page.goto('/')
    await navigateTo(page, '/datasets')
    await page.getByRole('button', { name: 'Actions for Cities' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'As CSV, for spreadsheets' }).click()
    expect((await download).suggestedFilename()).toBe('Cities.csv')
    await page.getByRole('button', { name: 'Actions for Cities' }).click()
    await page.getByRole('menuitem', { name: 'Delete dataset…' }).click()
    const ask = page.getByRole('alertdialog', { name: 'Delete Cities?' })
    // A click beside the buttons of the dialog does not open the row behind it.
    await ask.getByText('records are deleted permanently').click()
    await ask.getByRole('button', { name: 'Delete dataset' }).click()
    await page.getByText('No datasets yet').waitFor()
    expect(new URL(page.url()).pathname).toBe('/datasets')

    await navigateTo(page, '/knowledge')
    await page.getByRole('button', { name: 'Actions for Handbook' }).click()
    await page.getByRole('menuitem', { name: 'Delete knowledge base…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete knowledge base' }).click()
    await page.getByText('No knowledge bases yet').waitFor()
  })

  it('show the result of a suite that was running when the page was opened', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Grade', definition })
    const { dataset_id } = await site().call(ada, 'POST', '/api/datasets', { name: 'Known', records: [{ value: 1 }] })
    const { suite_id } = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/suites`, {
      name: 'Grades',
      dataset_id,
      checks: [{ kind: 'cel', expression: 'true' }],
    })
    await site().call(ada, 'POST', `/api/suites/${suite_id}/run`, {})
    const result = '100 % passed (1 of 1)'
    const lists = [
      { at: '/suites', request: '**/api/suites' },
      { at: `/suites/${suite_id}`, request: `**/api/suites/${suite_id}/runs?*` },
    ]
    for (const { at, request } of lists) {
      // The responses are those of a moment before the run ended, until the page has shown one.
      await page.route(request, async (route) => {
        const response = await route.fetch()
        const text = await response.text()
        const body = text
          .replace('"status":"succeeded"', '"status":"running"')
          .replace('"pass_rate":1', '"pass_rate":null')
        await route.fulfill({ response, body })
      })
      await page.goto(at)
      await page.getByText('Running').waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      await page.getByText(result).waitFor()
    }
  })

  it('have menus in their rows: a variable is changed and deleted', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await site().call(ada, 'PUT', '/api/variables/REGION', { value: 'eu' })
    await page.goto('/')
    await navigateTo(page, '/variables')
    const choose = async (item: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for REGION' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    // A dialog gives the focus back, also if one of its fields takes it by itself.
    await page.getByRole('button', { name: 'New variable' }).click()
    await page.getByRole('dialog').getByLabel('Name').press('Escape')
    await page.locator('button:focus', { hasText: 'New variable' }).waitFor()
    // A form keeps its input if the service cannot be reached, and says so.
    await page.getByRole('button', { name: 'New variable' }).click()
    const added = page.getByRole('dialog', { name: 'New variable' })
    await added.getByLabel('Name').fill('LIMIT')
    await page.route('**/api/variables/LIMIT', (route) => route.abort())
    await added.getByRole('button', { name: 'Save' }).click()
    await added.getByText('Cannot reach the service').waitFor()
    expect(await added.getByLabel('Name').inputValue()).toBe('LIMIT')
    await page.keyboard.press('Escape')
    await choose('Change…')
    const dialog = page.getByRole('dialog', { name: 'Change REGION' })
    await dialog.getByLabel('Value').fill('us')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: 'us', exact: true }).waitFor()
    await choose('Delete variable…')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete variable' }).click()
    await page.getByText('No variables yet').waitFor()
  })

  it('have menus with the actions that the person may use: rename, duplicate, copy the link, delete', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Grade', definition })
    const checks = [{ kind: 'cel', expression: 'true' }]
    await site().call(ada, 'POST', `/api/workflows/${workflow_id}/suites`, { name: 'Known', checks })
    const { team_id } = await site().call(ada, 'POST', '/api/teams', { name: 'Finance' })
    const viewer = await site().invite(ada, 'Vera', 'viewer')
    const choose = async (name: string, item: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    const rename = async (name: string, next: string): Promise<void> => {
      await choose(name, 'Rename…')
      const dialog = page.getByRole('dialog', { name: `Rename ${name}` })
      await dialog.getByLabel('Name').fill(next)
      await dialog.getByRole('button', { name: 'Rename' }).click()
      await page.getByRole('link', { name: next, exact: true }).waitFor()
    }
    await page.goto('/')
    await navigateTo(page, '/suites')
    await rename('Known', 'Known grades')
    await choose('Known grades', 'Duplicate')
    await page.getByRole('link', { name: 'Copy of Known grades' }).waitFor()
    await choose('Copy of Known grades', 'Delete suite…')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete suite' }).click()
    await page.getByRole('link', { name: 'Copy of Known grades' }).waitFor({ state: 'detached' })

    await navigateTo(page, '/teams')
    await page.getByRole('button', { name: 'New team' }).click()
    await page.getByRole('dialog').getByLabel('Name').press('Escape')
    await page.locator('button:focus', { hasText: 'New team' }).waitFor()
    await rename('Finance', 'Money')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await choose('Money', 'Copy link')
    await page.getByText('Link copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(new RegExp(`/teams/${team_id}$`))

    await viewer.page.goto('/teams')
    await viewer.page.getByRole('button', { name: 'Actions for Money' }).click()
    expect(await viewer.page.getByRole('menuitem').allTextContents()).toEqual(['Copy link'])

    await choose('Money', 'Delete team…')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete team' }).click()
    await page.getByText('No teams yet').waitFor()
  })
})
