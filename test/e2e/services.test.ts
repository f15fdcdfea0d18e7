import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { noBrowser, useSite } from '#test/harness/site'

const document = (title: string) =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title, version: '1' },
    servers: [{ url: 'https://shop.invalid' }],
    paths: { '/orders': { get: { operationId: 'listOrders', summary: 'List the orders', responses: {} } } },
  })

describe.skipIf(noBrowser)('services', () => {
  const site = useSite()

  it('are imported from a document after a look at it, replaced, found and deleted', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const dialog = page.getByRole('dialog')
    const choose = async (title: string): Promise<void> => {
      await page.getByRole('button', { name: 'Import service' }).click()
      await dialog.getByLabel('Name').fill('shop')
      await dialog.getByLabel('From').selectOption('file')
      const file = { name: 'openapi.json', mimeType: 'application/json', buffer: Buffer.from(document(title)) }
      await dialog.getByLabel('OpenAPI document').setInputFiles(file)
      await dialog.getByRole('button', { name: 'Preview' }).click()
      await dialog.getByText('List the orders').waitFor()
    }
    await page.goto('/services')
    await page.getByText('Airtable').first().waitFor()
    expect(await checkPage(page, ['light', 'dark'])).toEqual([])
    await choose('Old shop')
    expect(await checkPage(page, ['light'])).toEqual([])
    await dialog.getByText('1 actions').waitFor()
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('custom.shop').waitFor()

    await choose('New shop')
    await dialog.getByText('Replaces the service of this name').waitFor()
    await dialog.getByRole('button', { name: 'Replace' }).click()
    await page.getByText('New shop', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Delete New shop' }).click()
    await page.getByRole('button', { name: 'Delete service' }).click()
    await page.getByText('custom.shop').waitFor({ state: 'detached' })
  })

  it('show what they can do, in the language of the person', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/services')
    await page.getByRole('link', { name: 'GitHub' }).click()
    await page.getByRole('heading', { name: 'GitHub' }).waitFor()
    await page.getByLabel('Search actions').fill('create an iss')
    const actions = page.getByRole('table', { name: 'Actions' })
    await actions.getByText('Create an issue').waitFor()
    expect(await actions.getByText('List branches').count()).toBe(0)
    await page.getByRole('table', { name: 'Triggers' }).getByText('A new issue').waitFor()
    expect(await checkPage(page, ['light', 'dark'])).toEqual([])
    await page.evaluate(() => localStorage.setItem('heddle.language', 'de'))
    await page.reload()
    await page.getByText('Issue anlegen').waitFor()
    await page.getByRole('link', { name: 'Neue Zugangsdaten' }).waitFor()
    await page.goto('/credentials/new?kind=basic')
    await page.getByRole('heading', { name: 'Benutzername und Passwort' }).waitFor()
    await page.getByLabel('Benutzername').waitFor()
    await page.evaluate(() => localStorage.removeItem('heddle.language'))
  })
})
