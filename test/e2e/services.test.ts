import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { eventually, noBrowser, useSite } from '#test/harness/site'

const document = (title: string) =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title, version: '1' },
    servers: [{ url: 'https://shop.invalid' }],
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }],
    paths: {
      '/orders': {
        get: {
          operationId: 'listOrders',
          summary: 'List the orders',
          parameters: [{ name: 'state', in: 'query', required: true, schema: { type: 'string' } }],
          responses: {},
        },
      },
    },
  })

describe.skipIf(noBrowser)('services', () => {
  const site = useSite()

  it('have a page: an account is connected, actions list their arguments, and a failure links to its run', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const call = (path: string, body: object) => site().call(ada, 'POST', path, body)
    await call('/api/services/import', { name: 'shop', document: document('Shop') })
    await page.goto('/services')
    await page.getByRole('link', { name: 'Shop', exact: true }).click()
    await page.getByText('No account that you can see is connected.').waitFor()
    await page.getByRole('button', { name: 'Connect account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Token').fill('a-token-of-ada')
    expect(await checkPage(page, ['light'])).toEqual([])
    await dialog.getByRole('button', { name: 'Save credential' }).click()
    const accounts = page.getByRole('table', { name: 'Connected accounts' })
    await accounts.getByText('shop.invalid').waitFor()
    await page.getByText('List the orders').click()
    await page.getByText('state', { exact: true }).waitFor()

    const { items } = await site().call(ada, 'GET', '/api/services/custom.shop/credentials')
    const args = {
      service: 'custom.shop',
      action: 'get_list_orders',
      credential_id: items[0].credential_id,
      args: { state: 'open' },
    }
    const definition = { nodes: [{ id: 'orders', type: 'service.call', args }], edges: [] }
    const { workflow_id } = await call('/api/workflows', { name: 'Orders', definition })
    await call(`/api/workflows/${workflow_id}/run`, { input: {} })
    const errors = page.getByRole('table', { name: 'Recent errors' })
    const failed = () => site().call(ada, 'GET', '/api/services/custom.shop/errors')
    await eventually(async () => (await failed()).items.length).toBe(1)
    await page.reload()
    await errors.getByText('get_list_orders').waitFor()
    expect(await checkPage(page, ['light', 'dark'])).toEqual([])
    await errors.getByRole('link', { name: 'get_list_orders' }).click()
    await page.waitForURL(/\/runs\/exe_/)
  })

  it('are imported from a document after a preview, replaced, found and deleted', async () => {
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
    await dialog.getByText('1 action.').waitFor()
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('custom.shop').waitFor()

    await choose('New shop')
    await dialog.getByText('Replaces the service with this name').waitFor()
    await dialog.getByRole('button', { name: 'Replace' }).click()
    await page.getByText('New shop', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Actions for New shop' }).click()
    await page.getByRole('menuitem', { name: 'Delete service…' }).click()
    await page.getByRole('button', { name: 'Delete service' }).click()
    await page.getByText('custom.shop').waitFor({ state: 'detached' })
  })

  it('show their actions in the language of the person', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/services')
    await page.getByRole('link', { name: 'GitHub' }).click()
    await page.getByRole('heading', { name: 'GitHub' }).waitFor()
    await page.getByLabel('Search actions').fill('create an iss')
    const actions = page.getByRole('list', { name: 'Actions' })
    await actions.getByText('Create an issue', { exact: true }).waitFor()
    expect(await actions.getByText('List branches').count()).toBe(0)
    await page.getByRole('list', { name: 'Triggers' }).getByText('A new issue', { exact: true }).waitFor()
    expect(await checkPage(page, ['light', 'dark'])).toEqual([])
    await page.evaluate(() => localStorage.setItem('heddle.language', 'de'))
    await page.reload()
    await page.getByText('Issue anlegen', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Konto verbinden' }).waitFor()
    for (const word of ['Quelle', 'Zugangsdaten', 'erforderlich', 'Referenz'])
      await page.getByRole('main').getByText(word, { exact: true }).waitFor()
    await page.goto('/credentials/new?kind=basic')
    await page.getByRole('heading', { name: 'Benutzername und Passwort' }).waitFor()
    await page.getByLabel('Benutzername').waitFor()
    await page.evaluate(() => localStorage.removeItem('heddle.language'))
  })
})
