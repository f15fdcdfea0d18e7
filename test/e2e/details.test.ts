import { describe, expect, it } from 'vitest'
import { fromWire } from '#platform/ids'
import { eventually, navigateTo, noBrowser, useSite } from '#test/harness/site'

// Small problems that users met.

describe.skipIf(noBrowser)('details of the console', () => {
  const site = useSite()

  it('a workflow with a required input is scheduled, and its next five times are shown', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Greeting',
      definition: {
        inputs: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        nodes: [{ id: 'a', type: 'set', args: { values: { text: { $ref: 'input.name' } } } }],
        edges: [],
      },
    })
    const missing: string[] = []
    page.on('response', (answer) => answer.status() === 404 && missing.push(answer.url()))
    await page.goto(`/workflows/${workflow_id}`)
    await page.getByText('by hand or through the API').waitFor()
    expect(missing).toEqual([])

    await page.goto(`/workflows/${workflow_id}/settings`)
    await page.getByRole('button', { name: 'Add schedule' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add schedule' })
    await dialog.getByLabel('Runs', { exact: true }).selectOption('At an interval')
    await dialog.getByLabel('Minutes between starts').fill('30')
    await eventually(() => dialog.getByRole('list', { name: 'Next five times' }).getByRole('listitem').count()).toBe(5)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('button', { name: 'JSON' }).click()
    await dialog.getByLabel('JSON').fill('{"name": 7}')
    await dialog.getByRole('button', { name: 'Save schedule' }).click()
    await dialog.getByRole('alert').getByText('name').waitFor()
    await dialog.getByLabel('JSON').fill('{"name": "Ada"}')
    await dialog.getByRole('button', { name: 'Save schedule' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/schedules`)
    expect(items).toMatchObject([{ every_s: 1800, cron: null, input: { name: 'Ada' } }])
    await site().call(ada, 'POST', `/api/workflows/${workflow_id}/tokens`, { name: 'Orders' })
    await page.goto(`/workflows/${workflow_id}`)
    await page.getByText('every 30 minutes').waitFor()
    await page.getByText('Webhook: Orders').waitFor()
  })

  it('a "For each" over an undeclared input shows a warning, and its body shows the data of the run', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const body = {
      nodes: [
        { id: 'line', type: 'set', name: 'Line', args: { values: { text: { $cel: '"no. " + string(item)' } } } },
        { id: 'after', type: 'set', name: 'After', args: { values: { copy: { $ref: 'nodes.line.output.text' } } } },
      ],
      edges: [{ from: { node: 'line' }, to: 'after' }],
    }
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Lines',
      definition: {
        nodes: [{ id: 'each', type: 'map', name: 'Each', args: { items: { $ref: 'input.items' }, body } }],
        edges: [],
      },
    })
    await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run?wait_s=60`, { input: { items: [7, 8] } })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.getByRole('button', { name: '1 warning' }).waitFor()
    await page.locator('[data-node="each"]').click()
    const inspector = page.getByRole('region', { name: 'Inspector' })
    await inspector.getByText('The input declares no field "items"').first().waitFor()
    await inspector.getByRole('button', { name: 'Open loop body' }).click()
    await page.locator('[data-node="after"]').click()
    await inspector.getByText('= "no. 7"').waitFor()
  })

  it('a file has a preview before it is imported, and a phone shows the notification bell', async () => {
    const { page } = await site().signUp('Ada')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto('/datasets/import')
    await page
      .getByLabel('File to import')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('city;size\n"Köln; Deutz";3\n') })
    const preview = page.getByRole('region', { name: 'Preview of the file' })
    await preview.getByRole('columnheader', { name: 'size' }).waitFor()
    await preview.getByText('Köln; Deutz').waitFor()
    await page.getByRole('button', { name: 'Notifications' }).click()
    await page.getByText('No notifications yet.').waitFor()
  })

  it('the page of an object that does not exist has a title and the way back to the list', async () => {
    const { page } = await site().signUp('Ada')
    await page.goto('/')
    const none = '01kf0000000000000000000000'
    for (const [path, title, list] of [
      [`/suites/suite_${none}`, 'Suite', 'Suites'],
      [`/teams/team_${none}`, 'Team', 'Teams'],
      [`/companies/co_${none}`, 'Company', 'Companies and workspaces'],
      [`/workspaces/ws_${none}`, 'Workspace', 'Companies and workspaces'],
      [`/knowledge/kb_${none}`, 'Knowledge base', 'Knowledge'],
      [`/knowledge/kb_${none}/documents/kdoc_${none}`, 'Document', 'Knowledge'],
      [`/credentials/cred_${none}`, 'Credential', 'Credentials'],
      [`/destinations/dest_${none}`, 'Event destination', 'Event destinations'],
      [`/channels/chan_${none}`, 'Channel', 'Channels'],
      [`/connections/conn_${none}`, 'Connection', 'Connections'],
    ] as const) {
      await navigateTo(page, path)
      await page.getByText('It was deleted, belongs to another workspace').waitFor()
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await page
        .getByRole('navigation', { name: 'Breadcrumb' })
        .getByRole('link', { name: list, exact: true })
        .waitFor()
      expect(await page.title()).toBe(`${title} · Heddle`)
    }
  })

  it('a channel whose last message was not delivered shows the reason', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { template_id } = await site().call(ada, 'POST', '/api/templates', { name: 'Desk' })
    const { config_id } = await site().call(ada, 'POST', '/api/gateway/channels', {
      channel: 'webhook',
      name: 'Shop',
      external_id: 'https://shop.example.com/in',
      template_id,
      credentials: { signing_secret: 'a secret of the shop' },
    })
    await site().service.sql('update gateway_channels set problem = $2 where config_id = $1', [
      fromWire('chan', config_id),
      'the address answered with status 410',
    ])
    await page.goto('/channels')
    await page.getByRole('row', { name: 'Shop' }).getByText('Problem', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Shop' }).click()
    await page.getByText('Problem with the last message: the address answered with status 410').waitFor()
  })

  it('what is typed into the settings of a channel stays when the channel is switched off', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { template_id } = await site().call(ada, 'POST', '/api/templates', { name: 'Desk' })
    const { config_id } = await site().call(ada, 'POST', '/api/gateway/channels', {
      channel: 'webhook',
      name: 'Shop',
      external_id: 'https://shop.example.com/in',
      template_id,
      credentials: { signing_secret: 'a secret of the shop' },
      enabled: true,
    })
    await page.goto(`/channels/${config_id}`)
    await page.getByLabel('Name').fill('Shop in Lyon')
    await page.getByRole('switch', { name: 'On' }).click()
    await page.getByText('The channel is off').waitFor()
    await page.getByText('Off', { exact: true }).waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Shop in Lyon')
    const save = page.getByRole('button', { name: 'Save' })
    await save.click()
    await page.getByRole('heading', { level: 1, name: 'Shop in Lyon' }).waitFor()
    expect(await save.evaluate((button) => button === document.activeElement)).toBe(true)
    const saved = await site().call(ada, 'GET', `/api/gateway/channels/${config_id}`)
    expect(saved).toMatchObject({ name: 'Shop in Lyon', enabled: false, external_id: 'https://shop.example.com/in' })
  })
})
