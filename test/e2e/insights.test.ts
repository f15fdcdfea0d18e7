import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { noBrowser, useSite } from '#test/harness/site'

describe.skipIf(noBrowser)('what executions do and cost', () => {
  const site = useSite()

  it('is shown over time, by workflow and by error; rules and budgets are created for it', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const definition = { nodes: [{ id: 'stop', type: 'fail', args: { code: 'no_stock', message: 'None' } }], edges: [] }
    const made = (await site().call(ada, 'POST', '/api/workflows', { name: 'Orders', definition })) as {
      workflow_id: string
    }
    await site().call(ada, 'POST', `/api/workflows/${made.workflow_id}/run?wait_s=60`, { input: {} })
    const fine = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
    const other = (await site().call(ada, 'POST', '/api/workflows', { name: 'Fine', definition: fine })) as {
      workflow_id: string
    }
    await site().call(ada, 'POST', `/api/workflows/${other.workflow_id}/run?wait_s=60`, { input: {} })

    await page.goto('/insights')
    await page.getByRole('heading', { name: 'Runs over time' }).waitFor()
    await expect
      .poll(
        async () => {
          await page.reload()
          await page.getByRole('heading', { name: 'Slowest steps' }).waitFor()
          return page.getByText('no_stock').isVisible()
        },
        { timeout: 20_000 },
      )
      .toBe(true)
    await page.getByRole('link', { name: 'no_stock' }).click()
    const filter = page.getByRole('button', { name: 'Error: no_stock' })
    await filter.waitFor()
    const runs = page.getByRole('table').getByRole('row')
    await expect.poll(() => runs.count()).toBe(2)
    await filter.click()
    await expect.poll(() => runs.count()).toBe(3)
    await page.goto('/insights')

    await page.getByRole('link', { name: 'Orders' }).first().click()
    await page.getByText('Runs of Orders').waitFor()
    await page.getByRole('button', { name: 'All workflows' }).click()
    expect(await checkPage(page, ['light'])).toEqual([])

    await page.getByRole('link', { name: 'Alerts' }).click()
    await page.getByRole('button', { name: 'New alert rule' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Orders fail')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Runs fail too often, in the whole workspace').waitFor()
    const choose = async (name: string, item: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await choose('Orders fail', 'Silence for an hour')
    await page.getByText('silenced').waitFor()
    await choose('Orders fail', 'Change…')
    await dialog.getByLabel('From % of runs').fill('35')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('35 % of runs').waitFor()
    expect(await checkPage(page, ['light'])).toEqual([])

    await page.getByRole('link', { name: 'Budgets' }).click()
    await page.getByRole('button', { name: 'New budget' }).first().click()
    await dialog.getByLabel('US dollars').fill('25')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('$0 of $25.00 a month').waitFor()
    await choose('The workspace', 'Change…')
    await dialog.getByLabel('US dollars a month').fill('30')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('$0 of $30.00 a month').waitFor()
    await choose('The workspace', 'Delete budget…')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete budget' }).click()
    await page.getByText('No budgets yet').waitFor()
  })
})
