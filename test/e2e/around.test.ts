import type { WebSocketRoute } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { eventually, noBrowser, useSite } from '#test/harness/site'

const definition = {
  nodes: [
    { id: 'a', type: 'set', name: 'First', args: { values: { n: 1 } } },
    { id: 'b', type: 'set', name: 'Second', args: { values: { n: 2 } } },
  ],
  edges: [{ from: { node: 'a' }, to: 'b' }],
  layout: { positions: { a: { x: 0, y: 0 }, b: { x: 420, y: 0 } } },
}
const gate = {
  nodes: [
    {
      id: 'ask',
      type: 'approval',
      args: {
        title: 'Pay it?',
        policy: { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any', allow_self: true },
      },
    },
  ],
  edges: [],
}

describe.skipIf(noBrowser)('around the work', () => {
  const site = useSite()

  it('the navigation counts open approvals, and past decisions are listed', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Pay', definition: gate })
    await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run`, {})
    await eventually(async () => (await site().call(ada, 'GET', '/api/approvals/inbox')).items.length).toBe(1)
    await page.goto('/approvals')
    const entry = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Approvals/ })
    await eventually(() => entry.textContent()).toMatch(/1/)
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('You have voted').waitFor()
    await eventually(() => entry.textContent()).not.toMatch(/1/)
    await page.getByRole('link', { name: 'Your decisions' }).click()
    await page.getByRole('row', { name: /Pay it\?/ }).waitFor()
  })

  it('the navigation counts open questions, and links to them', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const definition = {
      nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Which colour?', schema: { type: 'string' } } }],
      edges: [],
    }
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Dye', definition })
    const { execution_id } = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run`, {})
    await eventually(async () => (await site().call(ada, 'GET', '/api/clarifications/inbox')).items.length).toBe(1)
    await page.goto('/approvals')
    const entry = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Questions/ })
    await eventually(() => entry.textContent()).toMatch(/1/)
    await entry.click()
    await page.getByRole('row', { name: /Which colour\?.*Dye/ }).waitFor()
    expect(await checkPage(page)).toEqual([])
    await page.getByRole('link', { name: 'Which colour?' }).click()
    await page.waitForURL(`**/runs/${execution_id}`)
    await site().call(ada, 'POST', `/api/workflows/executions/${execution_id}/respond`, { response: 'red' })
    await eventually(() => entry.textContent()).not.toMatch(/1/)
  })

  it('the audit log names the changed object and links to it', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { team_id, workspace_id } = await site().call(ada, 'POST', '/api/teams', { name: 'Dyers' })
    await site().call(ada, 'POST', '/auth/api-keys', { name: 'Loom', workspace_id })
    await page.goto('/audit')
    await page.getByRole('row', { name: /API key created.*Loom/ }).waitFor()
    await page
      .getByRole('row', { name: /Team created.*Dyers/ })
      .getByRole('link', { name: 'Dyers' })
      .click()
    await page.waitForURL(`**/teams/${team_id}`)
  })

  it('the console is in German on every kind of page, and in English again', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/billing')
    await page.evaluate(() => localStorage.setItem('heddle.language', 'de'))
    try {
      for (const [path, heading] of [
        ['/billing', 'Abrechnung'],
        ['/workflows', 'Workflows'],
        ['/jobs/new', 'Neuer Auftrag'],
        ['/account', 'Ihr Konto'],
      ]) {
        await page.goto(path!)
        await page.getByRole('heading', { level: 1, name: heading!, exact: true }).waitFor()
      }
      expect(await page.locator('html').getAttribute('lang')).toBe('de')
      await page.getByRole('link', { name: 'Läufe' }).waitFor()
      // The offered workflows are in German, and so is the copy that is created from one of them.
      await page.goto('/workflows/new')
      await page.getByRole('button', { name: /^Urlaubsantrag/ }).waitFor()
      await page.getByRole('button', { name: /^Bestellungen zusammenfassen/ }).click()
      await page.locator('[data-node][aria-label^="Zusammenzählen, "]').waitFor()
      // Words in tables and facts, and numbers with their nouns, are in German too.
      const id = /wf_[0-9a-z]+/.exec(page.url())![0]
      const records = [{ a: 1, b: 2 }]
      const { dataset_id } = await site().call(ada, 'POST', '/api/datasets', { name: 'Zwei', records })
      await site().call(ada, 'POST', '/api/enrichment-jobs', { name: 'Alle', workflow_id: id, dataset_id })
      await page.goto(`/datasets/${dataset_id}`)
      await page.getByText('2 Spalten').waitFor()
      await page.goto(`/workflows/${id}`)
      await page.getByText('führt ihn für jeden Eintrag aus').waitFor()
      await page.goto('/audit')
      await page.getByRole('row', { name: /Datensatz erstellt/ }).waitFor()
      await page.goto('/conversations/hours')
      await page.getByRole('button', { name: 'Öffnungszeiten festlegen' }).click()
      await page.getByText('Montag', { exact: true }).waitFor()
      await page.goto('/runs')
      await page
        .getByLabel('Workflow', { exact: true })
        .getByRole('option', { name: 'Datensatz-Profil' })
        .waitFor({ state: 'attached' })
      await page.goto('/workflows/dataset-profile')
      await page.getByRole('heading', { level: 1, name: 'Datensatz-Profil' }).waitFor()
      // So are the errors of a form that is made from a schema, the palette, and the descriptions of events.
      await page.goto('/connections/new?kind=postgres')
      await page.getByRole('button', { name: 'Prüfen und speichern' }).click()
      await page.getByText('ist erforderlich').first().waitFor()
      await page.goto(`/workflows/${id}/editor`)
      await page.getByTitle(/Setzen Sie ODDS_API_KEY/).waitFor()
      await page.goto('/destinations')
      await page.getByRole('button', { name: 'Neues Ziel' }).first().click()
      await page.getByTitle('Ein Lauf ist fehlgeschlagen.').waitFor()
    } finally {
      await page.evaluate(() => localStorage.removeItem('heddle.language'))
    }
    await page.reload()
    await page.getByTitle('Runs', { exact: true }).waitFor()
  })

  it('the editor shows what starts a workflow, disables and groups nodes, and notifies people named in a comment', async () => {
    const ada = await site().signUp('Ada')
    const grace = await site().invite(ada, 'Grace')
    const { page } = ada
    const { user_id } = (await site().call(grace, 'GET', '/auth/me')).user
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Drawn', definition })
    await site().call(ada, 'PATCH', `/api/workflows/${workflow_id}`, { members: [{ user_id, role: 'viewer' }] })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="a"]').waitFor()
    await page.locator('.react-flow__node[data-id^="start:"]').first().waitFor()

    await page.locator('[data-node="a"]').click()
    await page.keyboard.press('d')
    await eventually(() => page.locator('[data-node="a"]').textContent()).toContain('Disabled')
    await page.keyboard.press('d')
    await page.keyboard.press('Control+a')
    await page.keyboard.press('g')
    await page.getByRole('textbox', { name: 'Name of the group' }).fill('Both of them')

    await page.getByRole('button', { name: 'Comments' }).click()
    const panel = page.getByRole('region', { name: 'Comments' })
    await panel.getByRole('textbox', { name: 'Comment on the workflow' }).pressSequentially('Look, @gr')
    await panel.getByRole('button', { name: 'Grace', exact: true }).click()
    await panel.getByRole('button', { name: 'Comment', exact: true }).click()
    await panel.getByText('Look, @Grace').waitFor()
    const told = async () => (await site().call(grace, 'GET', '/api/notifications')).items
    await eventually(async () => (await told())[0]?.kind).toBe('comment.mentioned')

    await grace.page.goto((await told())[0].link)
    await grace.page.getByRole('region', { name: 'Comments' }).getByText('Look, @Grace').waitFor()
    await grace.page.getByRole('button', { name: 'Mark as done' }).click()
    await grace.page.getByText('No comments').waitFor()
  })

  it('the console shows a message while the service cannot be reached', { timeout: 60_000 }, async () => {
    const ada = await site().signUp('Ada', { fresh: true })
    const { page } = ada
    const open: WebSocketRoute[] = []
    let isCut = false
    await page.routeWebSocket(/./, (socket) => {
      if (isCut) void socket.close()
      else {
        socket.connectToServer()
        open.push(socket)
      }
    })
    try {
      await site().call(ada, 'POST', '/api/notifications', { title: 'Call the mill' })
      await page.goto('/workflows')
      // The socket is connected, so a later disconnect is a failure.
      await page.getByRole('button', { name: 'Notifications, 1 unread' }).first().waitFor()
      isCut = true
      for (const socket of open) await socket.close()
      await page.getByText('Cannot reach the service. Trying again').waitFor()
      isCut = false
      await page.getByText('Cannot reach the service. Trying again').waitFor({ state: 'hidden' })
    } finally {
      isCut = false
    }
  })
})
