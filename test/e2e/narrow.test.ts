import { describe, it } from 'vitest'
import { eventually, noBrowser, useSite } from '#test/harness/site'

const PHONE = { width: 390, height: 844 }

describe.skipIf(noBrowser)('on a phone', () => {
  const site = useSite()

  it('a node is added, set up and run', async () => {
    const ada = await site().signUp('Ada')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Small' })
    const { page } = ada
    await page.setViewportSize(PHONE)
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.getByRole('button', { name: 'Show the palette' }).click()
    await page.getByRole('region', { name: 'Palette' }).getByRole('button', { name: 'Set values' }).click()
    await page.getByRole('region', { name: 'Palette' }).waitFor({ state: 'detached' })
    const inspector = page.getByRole('region', { name: 'Inspector' })
    await inspector.getByLabel('Node name').fill('Greet')
    await inspector.getByRole('button', { name: 'Close' }).click()
    await inspector.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await eventually(() => page.locator('[data-node]').first().textContent()).toContain('Greet')
    await page.getByText('Succeeded').first().waitFor()
  })

  it('the navigation opens, leads somewhere and closes', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.setViewportSize(PHONE)
    await page.goto('/')
    await page.getByRole('button', { name: 'Open navigation' }).click()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Datasets' }).click()
    await page.getByRole('heading', { name: 'Datasets', level: 1 }).waitFor()
    await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'hidden' })
  })
})
