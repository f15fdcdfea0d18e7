import { describe, expect, it } from 'vitest'
import { checkPages } from '#test/harness/axe'
import { PASSWORD } from '#test/harness/browser'
import { eventually, navigateTo, noBrowser, useSite } from '#test/harness/site'
import { slow } from '#test/harness/slow'
import { makePerson, makeWorkspace } from '#test/harness/world'

const hostile = `<img src=x onerror="window.hacked=1">`

describe.skipIf(noBrowser)('administration', () => {
  const site = useSite({ env: { HEDDLE_OPERATORS: 'op@example.com,olga@example.com' } })

  const makePlan = async (): Promise<void> => {
    const operator = await makePerson(site().service, { email: 'op@example.com' })
    const answer = await operator.call('POST', '/api/payments/plans', {
      body: { name: 'Team', amount: 4900, currency: 'eur', interval: 'month', quotas: { members: 10 } },
    })
    expect(answer.status).toBe(201)
  }

  slow('an owner invites a person, who accepts in another browser and gets another role', async () => {
    const ada = await site().signUp('Ada')
    await ada.page.goto('/people')
    await ada.page.getByRole('button', { name: 'Invite' }).click()
    const grace = await site().visit()
    await ada.page.getByLabel('E-mail').fill(grace.email)
    await ada.page.getByLabel('Role').selectOption('viewer')
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    const link = await ada.page.getByTestId('copy-text').textContent()
    await ada.page.getByRole('button', { name: 'Done' }).click()
    await ada.page.getByRole('cell', { name: grace.email, exact: true }).waitFor()

    await grace.page.goto(new URL(link!).pathname)
    await grace.page.getByLabel('Name').fill('Grace')
    await grace.page.getByLabel('Password').fill(PASSWORD)
    await grace.page.getByRole('button', { name: /accept|join|make/i }).click()
    await grace.page.getByRole('navigation', { name: 'Main' }).waitFor()
    await grace.page.goto('/people')
    await grace.page.getByRole('row', { name: /Grace/ }).waitFor()
    expect(await grace.page.getByRole('button', { name: 'Invite' }).count()).toBe(0)

    await ada.page.reload()
    await ada.page.getByRole('button', { name: 'Actions for Grace' }).click()
    await ada.page.getByRole('menuitemradio', { name: 'Member' }).click()
    await eventually(() => ada.page.getByRole('row', { name: /Grace.*Member/ }).count()).toBe(1)
  })

  slow('a declined card is reported, a valid card is added, and the workspace subscribes', async () => {
    await makePlan()
    const ada = await site().signUp('Ada')
    await ada.page.goto('/billing/cards')
    const dialog = ada.page.getByRole('main')
    await dialog.getByRole('button', { name: '4000 0000 0000 0002' }).click()
    await dialog.getByRole('button', { name: 'Add card' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('button', { name: '4000 0025 0000 3155' }).click()
    await dialog.getByRole('button', { name: 'Add card' }).click()
    await dialog.getByRole('button', { name: 'Confirm at the bank' }).click()
    await ada.page.getByRole('row', { name: /ending in 3155/ }).waitFor()

    await ada.page.getByRole('link', { name: 'Plan and usage' }).click()
    await ada.page.getByRole('button', { name: 'Subscribe: Team' }).click()
    await ada.page.getByRole('dialog').getByLabel('Coupon (optional)').fill('nothing')
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Subscribe' }).click()
    await ada.page.getByRole('dialog').getByText('Is not a coupon of this plan').waitFor()
    await ada.page.getByRole('dialog').getByLabel('Coupon (optional)').fill('')
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Subscribe' }).click()
    await ada.page.getByRole('button', { name: 'Cancel subscription…' }).waitFor()
    await ada.page.getByRole('link', { name: 'Invoices' }).click()
    await ada.page.getByRole('row', { name: /Paid.*€49\.00/ }).waitFor()
    await ada.page.getByRole('button', { name: /in detail/ }).click()
    const pdf = await ada.page.getByRole('link', { name: 'Download PDF' }).getAttribute('href')
    expect((await ada.page.request.get(pdf!)).headers()['content-type']).toBe('application/pdf')
    await ada.page.keyboard.press('Escape')
    await checkPages(ada, [
      ['/billing', 'Renews'],
      ['/billing/cards', 'ending in 3155'],
      ['/billing/invoices', '€49.00'],
    ])

    // A person without a card enters it in the same dialog.
    const grace = await site().signUp('Grace')
    await grace.page.goto('/billing')
    await grace.page.getByRole('button', { name: 'Subscribe: Team' }).click()
    const asked = grace.page.getByRole('dialog')
    await asked.getByRole('button', { name: '4242 4242 4242 4242' }).click()
    await asked.getByRole('button', { name: 'Add card' }).click()
    await asked.getByText('The card ending in 4242 is charged.').waitFor()
    await asked.getByRole('button', { name: 'Subscribe' }).click()
    await grace.page.getByRole('listitem').filter({ hasText: 'Team' }).getByText('Current plan').waitFor()
  })

  it('a webhook token is created, and a program starts the workflow with it', async () => {
    const ada = await site().signUp('Ada')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Echo',
      definition: {
        inputs: { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] },
        nodes: [],
        edges: [],
        output: { $ref: 'input' },
      },
    })
    await ada.page.goto(`/workflows/${workflow_id}/access`)
    await ada.page
      .getByRole('region', { name: 'Webhook' })
      .or(ada.page.locator('section', { hasText: 'Webhook' }))
      .first()
      .getByRole('button', { name: /token/i })
      .first()
      .click()
    await ada.page.getByLabel('Name').fill('Shop')
    await ada.page
      .getByRole('dialog')
      .getByRole('button', { name: /make|create/i })
      .click()
    const token = await ada.page.getByTestId('copy-text').first().textContent()
    expect(token).toMatch(/^whs_/)
    // The call to copy has the input that the workflow requires.
    await eventually(() => ada.page.getByTestId('copy-text').nth(2).textContent()).toContain(
      `-H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"order":1}'`,
    )
    const started = await site().service.call('POST', `/api/webhooks/workflow/${workflow_id}/trigger?wait_s=60`, {
      token: token!,
      body: { order: 7 },
    })
    expect(started.body).toMatchObject({ status: 'succeeded', results: { order: 7 } })
    await ada.page.goto(`/runs/${started.body.execution_id}`)
    await ada.page.getByText('Succeeded').first().waitFor()
  })

  slow('a token with a signature has a page that shows why a call was refused', async () => {
    const ada = await site().signUp('Ada')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Echo',
      definition: {
        inputs: { type: 'object', properties: { order: { type: 'integer' } } },
        nodes: [],
        edges: [],
        output: { $ref: 'input' },
      },
    })
    const { page } = ada
    await page.goto(`/workflows/${workflow_id}/access`)
    await page.getByRole('button', { name: 'New token', exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill('Repository')
    await page.getByLabel('Authentication of callers').selectOption('github')
    await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()
    const address = (await page.getByTestId('copy-text').nth(1).textContent())!
    expect(address).toMatch(/\/api\/webhooks\/in\/whk_/)
    await page.getByRole('button', { name: 'Saved' }).click()
    await page.getByRole('link', { name: 'Repository' }).click()
    await page.getByText('"order":1').waitFor()
    await page.getByRole('button', { name: 'Listen for a test call' }).click()
    const refused = await site().service.call('POST', new URL(address).pathname, { body: { order: 1 } })
    expect(refused.status).toBe(401)
    await page.getByText('The signature header is missing').waitFor()
  })

  it('an API key is shown once, works, and stops working after it is deleted', async () => {
    const ada = await site().signUp('Ada')
    await ada.page.goto('/keys')
    await ada.page.getByRole('button', { name: 'New API key' }).first().click()
    await ada.page.getByLabel('Name').fill('Nightly')
    await ada.page.getByRole('button', { name: 'Create key' }).click()
    const key = await ada.page.getByTestId('copy-text').first().textContent()
    expect(key).toMatch(/^hk_/)
    const me = await site().service.call('GET', '/auth/me', { token: key! })
    expect(me.body.user.email).toBe(ada.email)
    await ada.page.getByRole('button', { name: 'Saved' }).click()
    await ada.page.getByRole('button', { name: 'Delete the key Nightly' }).click()
    await ada.page.getByRole('button', { name: 'Delete key' }).click()
    await ada.page.getByText('No API keys yet').waitFor()
    expect((await site().service.call('GET', '/auth/me', { token: key! })).status).toBe(401)
  })

  slow('an API key gets scopes, and a service account gets its own key', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/keys')
    await page.getByRole('button', { name: 'New API key' }).first().click()
    await page.getByLabel('Name').fill('Reader')
    await page.getByLabel('Rights').selectOption('own')
    await page.getByRole('checkbox', { name: 'teams:read' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    const scoped = await page.getByTestId('copy-text').first().textContent()
    const call = (token: string | null, method: string, path: string, body?: object) =>
      site().service.call(method, path, { token: token!, ...(body && { body }) })
    expect((await call(scoped, 'GET', '/api/teams')).status).toBe(200)
    expect((await call(scoped, 'POST', '/api/teams', { name: 'x' })).body.code).toBe('insufficient_scope')
    await page.getByRole('button', { name: 'Saved' }).click()
    await page.getByText('teams:read').waitFor()

    await page.goto('/service-accounts')
    await page.getByRole('button', { name: 'New service account' }).first().click()
    await page.getByLabel('Name').fill('Deployments')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('link', { name: 'Deployments' }).click()
    await page.getByRole('button', { name: 'New API key' }).click()
    await page.getByLabel('Name').fill('CI')
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByTestId('copy-text').first().textContent()
    expect((await call(key, 'GET', '/auth/me')).body.user.name).toBe('Deployments')
    await page.getByRole('button', { name: 'Saved' }).click()
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByText('its API keys are refused').waitFor()
    expect((await call(key, 'GET', '/auth/me')).status).toBe(401)
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('its API keys are refused').waitFor({ state: 'detached' })
    expect((await call(key, 'GET', '/auth/me')).status).toBe(200)
  })

  slow('a workflow is exported and imported, missing parts are listed by name, and events start it', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Orders',
      definition: { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] },
    })
    await page.goto(`/workflows/${workflow_id}/settings`)
    await page.getByRole('button', { name: 'Add event' }).click()
    await page.getByRole('textbox', { name: 'Event 1' }).fill('order.paid')
    await page.locator('section', { hasText: 'Start by event' }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').first().waitFor()
    const { settings } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}`)
    expect(settings.on_event).toEqual(['order.paid'])
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    expect((await saving).suggestedFilename()).toBe('orders.json')

    await page.goto('/workflows')
    const missing = { $name: 'Shop API', kind: 'credential' }
    const document = {
      heddle: 'workflow/1',
      name: 'Imported orders',
      definition: {
        nodes: [{ id: 'call', type: 'http.request', args: { url: 'https://example.com/', credential_id: missing } }],
        edges: [],
      },
    }
    const choose = (content: object) =>
      page.getByLabel('File of a workflow').setInputFiles({
        name: 'orders.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(content)),
      })
    await choose(document)
    await page.getByRole('list', { name: 'What is missing' }).getByText('Shop API').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    const whole = { ...document, definition: { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] } }
    await choose(whole)
    await page.getByRole('heading', { name: 'Imported orders' }).waitFor()
  })

  it('a notification arrives without a reload, and markup in its text is not executed', async () => {
    const ada = await site().signUp('Ada')
    await ada.page.goto('/notifications')
    await ada.page.getByText('Live', { exact: true }).waitFor()
    await site().call(ada, 'POST', '/api/notifications', { title: hostile, body: hostile, link: '/runs' })
    await ada.page
      .getByRole('link', { name: /<img src=x/ })
      .first()
      .click()
    await ada.page.getByRole('link', { name: 'Open' }).waitFor()
    expect(await ada.page.evaluate('window.hacked')).toBeUndefined()
  })

  slow('a viewer is offered no forbidden action, and can leave a team', async () => {
    const ada = await site().signUp('Ada')
    const { team_id } = await site().call(ada, 'POST', '/api/teams', { name: 'Finance' })
    await site().call(ada, 'POST', '/api/subscriptions', { name: 'Map licence' })
    await checkPages(ada, [[`/teams/${team_id}`, 'No one is in this team yet']])
    const vera = await site().invite(ada, 'Vera', 'viewer')
    for (const [path, ready] of [
      ['/teams', 'Finance'],
      [`/teams/${team_id}`, 'No one is in this team yet'],
      ['/billing/records', 'Map licence'],
      ['/people', 'About roles'],
    ] as const) {
      await (path === '/teams' ? vera.page.goto(path) : navigateTo(vera.page, path))
      await vera.page.getByText(ready).first().waitFor()
      expect(await vera.page.getByRole('button', { name: /^(New|Delete|Change|Add|Invite)/ }).count(), path).toBe(0)
    }
    const { user } = await site().call(vera, 'GET', '/auth/me')
    await site().call(ada, 'POST', `/api/teams/${team_id}/add_users`, { user_ids: [user.user_id] })
    await vera.page.goto(`/teams/${team_id}`)
    await vera.page.getByRole('button', { name: 'Leave the team' }).click()
    await vera.page.getByRole('alertdialog').getByRole('button', { name: 'Leave team' }).click()
    await vera.page.getByText('No one is in this team yet').waitFor()
    await navigateTo(vera.page, '/audit')
    await vera.page.getByText('The audit log is for owners').waitFor()
  })

  slow('operators see the engine, the tenants and the outbox; other users see that they have no access', async () => {
    const ada = await site().signUp('Ada')
    await ada.page.goto('/operators/engine')
    await ada.page.getByText('This page is for operators').waitFor()
    const olga = await site().visit()
    const operator = await makePerson(site().service, { email: 'olga@example.com', name: 'Olga' })
    await makeWorkspace(site().service, operator, 'Operations')
    await olga.context.setExtraHTTPHeaders({ authorization: `Bearer ${operator.key}` })
    await checkPages(olga, [
      ['/operators/engine', 'Healthy'],
      ['/operators/tenants', "Ada's place"],
      ['/operators/outbox', 'Outbox'],
      ['/operators/plans', 'Billing clock'],
    ])

    // Operators see names of other tenants, not their ids.
    await olga.page.goto('/operators/tenants')
    const place = olga.page.getByRole('row', { name: /Ada's place .*@/ }).first()
    await place.getByRole('button', { name: /^Actions for/ }).click()
    await olga.page.getByRole('menuitem', { name: 'Suspend…' }).click()
    await olga.page.getByRole('dialog').getByLabel('Reason').fill('Unpaid')
    await olga.page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
    await place.getByText('Suspended').waitFor()
    await place.getByRole('button', { name: /^Actions for/ }).click()
    await olga.page.getByRole('menuitem', { name: 'End suspension' }).click()
    await place.getByText('Suspended').waitFor({ state: 'hidden' })
    await olga.page.getByRole('tab', { name: 'Companies' }).click()
    await olga.page
      .getByRole('row', { name: /Ada's place company .* Ada / })
      .first()
      .waitFor()
    await olga.page.goto('/operators/plans')

    // A plan has a price for models; limits that the form does not show stay unchanged.
    await olga.page.getByRole('button', { name: 'New plan' }).first().click()
    const form = olga.page.getByRole('dialog')
    await form.getByLabel('Name', { exact: true }).fill('Metered')
    await form.getByLabel('Price for tokens').fill('200')
    await form.getByLabel('Tokens included').fill('100000')
    await form.getByRole('button', { name: 'Create plan' }).click()
    await form.waitFor({ state: 'hidden' })
    const find = async () => {
      const { body } = await operator.call('GET', '/api/payments/plans?limit=100')
      return body.items.find(({ name }: { name: string }) => name === 'Metered')
    }
    const { plan_id, usage_prices } = await find()
    expect(usage_prices).toEqual([{ meter: 'model_tokens', unit_amount: 200, per: 1_000_000, included: 100_000 }])
    await operator.call('PATCH', `/api/payments/plans/${plan_id}`, { body: { quotas: { mails_per_minute: 7 } } })
    await olga.page.reload()
    await olga.page.getByText('€2.00 for each 1M model tokens, 100,000 included').waitFor()
    await olga.page.getByRole('button', { name: 'Change Metered' }).click()
    await form.getByLabel('Price for the cost of models').fill('120')
    await form.getByLabel('US dollars included').fill('2.5')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'hidden' })
    expect(await find()).toMatchObject({
      usage_prices: [{ meter: 'model_tokens' }, { meter: 'model_cost', unit_amount: 120, included: 2_500_000 }],
      quotas: { mails_per_minute: 7 },
    })
  })
})
