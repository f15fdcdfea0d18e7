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
})
