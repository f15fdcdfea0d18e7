import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { eventually, noBrowser, type Site, useSite, type Visitor, writeCode } from '#test/harness/site'
import { slow } from '#test/harness/slow'

// The editor as people use it: with the keyboard alone, with the mouse, alone and with others.

type Drawn = { page: Page; id: string; visitor: Visitor }

async function openEditor(site: Site, name: string, definition?: unknown, visitor?: Visitor): Promise<Drawn> {
  const who = visitor ?? (await site.signUp('Ada'))
  const { workflow_id } = await site.call(who, 'POST', '/api/workflows', {
    name,
    ...(definition !== undefined && { definition }),
  })
  await enter(who.page, workflow_id)
  return { page: who.page, id: workflow_id, visitor: who }
}

async function enter(page: Page, workflowId: string): Promise<void> {
  await page.goto(`/workflows/${workflowId}/editor`)
  await page.locator('[data-canvas]').waitFor()
}

const node = (page: Page, id: string): Locator => page.locator(`[data-node="${id}"]`)
const inspector = (page: Page): Locator => page.getByRole('region', { name: 'Inspector' })
const focused = (page: Page): Promise<string | null> =>
  page.evaluate(() => document.activeElement?.getAttribute('data-node') ?? null)

/** Presses Tab until the target has the focus, as a person without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement).catch(() => false)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${target} was not reached`)
}

async function addByKey(page: Page, words: string, id: string): Promise<void> {
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Find a node' }).waitFor()
  await page.keyboard.type(words)
  await page.keyboard.press('Enter')
  await eventually(() => focused(page)).toBe(id)
}

const greeting = {
  inputs: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  nodes: [
    { id: 'greet', type: 'set', name: 'Greet', args: { values: { text: { $cel: "'Hello ' + input.name" } } } },
    { id: 'shout', type: 'set', name: 'Shout', args: { values: { loud: { $ref: 'nodes.greet.output.text' } } } },
  ],
  edges: [{ from: { node: 'greet' }, to: 'shout' }],
  output: { $ref: 'nodes.shout.output.loud' },
}

describe.skipIf(noBrowser)('the editor', () => {
  const site = useSite()

  slow('can be used with the keyboard alone to draw, run, answer and approve', async () => {
    const { page } = await openEditor(site(), 'By hand')
    await eventually(() => page.evaluate(() => document.activeElement?.hasAttribute('data-canvas'))).toBe(true)
    await addByKey(page, 'question', 'clarification')
    await addByKey(page, 'approval', 'approval')
    await addByKey(page, 'set', 'set')

    // The gate is for owners; a person who is the only owner may vote on their own execution.
    await page.keyboard.press('ArrowLeft')
    await eventually(() => focused(page)).toBe('approval')
    await page.keyboard.press('Enter')
    await eventually(() => page.evaluate(() => document.activeElement?.closest('[data-inspector]') !== null)).toBe(true)
    const oneself = inspector(page).getByRole('switch')
    await tabTo(page, oneself)
    expect(await oneself.isChecked()).toBe(true)
    await page.keyboard.press('Escape')
    await eventually(() => focused(page)).toBe('approval')

    await page.keyboard.press('Control+Enter')
    const run = page.getByRole('region', { name: 'Run', exact: true })
    const answer = run.getByRole('textbox')
    await answer.waitFor()
    await page.keyboard.press('r')
    await tabTo(page, answer)
    await page.keyboard.type('go on')
    await page.keyboard.press('Enter')
    const vote = run.getByRole('link', { name: 'Review and vote' })
    await vote.waitFor()
    await tabTo(page, vote)
    await page.keyboard.press('Enter')
    await page.waitForURL(/approvals/)
    await page
      .getByRole('button', { name: /^Approve/ })
      .first()
      .waitFor()
    await page.keyboard.press('a')
    await eventually(() => page.getByText(/approved/i).count()).toBeGreaterThan(0)
  })

  it('with the mouse: drags nodes from the palette, connects them, runs them and shows their data on the canvas', async () => {
    const { page } = await openEditor(site(), 'By mouse')
    const canvas = page.locator('[data-canvas]')
    const palette = page.getByRole('region', { name: 'Palette' })
    for (const x of [40, 320]) {
      await palette
        .getByRole('button', { name: 'Set values' })
        .dragTo(canvas, { targetPosition: { x: x + 112, y: 300 } })
    }
    await node(page, 'set_2').waitFor()
    const from = (await page.locator('.react-flow__node[data-id="set"] .way-out').boundingBox())!
    const to = (await page.locator('.react-flow__node[data-id="set_2"] .way-in').boundingBox())!
    await page.mouse.move(from.x + 6, from.y + 6)
    await page.mouse.down()
    await page.mouse.move(to.x - 40, to.y + 6, { steps: 4 })
    await page.mouse.move(to.x + 6, to.y + 6, { steps: 4 })
    await page.mouse.up()
    await eventually(() => page.locator('.react-flow__edge:not([data-id^="start:"])').count()).toBe(1)

    await node(page, 'set').click()
    await inspector(page).getByRole('button', { name: 'Add a field' }).click()
    await page.keyboard.type('city')
    await page.keyboard.press('Enter')
    await inspector(page)
      .getByLabel('city', { exact: true })
      .or(inspector(page).locator('[data-field="/args/values/city"] textarea'))
      .first()
      .fill('<b>Bern</b>')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await eventually(() => node(page, 'set_2').getAttribute('aria-label')).toContain('succeeded')
    await inspector(page).getByRole('tab', { name: 'Data' }).click()
    await eventually(() => inspector(page).getByRole('region', { name: 'Output' }).textContent()).toContain(
      'city: "<b>Bern</b>"',
    )
  })

  slow('tests a step without saving a version, announces its effects, and uses a pinned output', async () => {
    const { page } = await openEditor(site(), 'Tried', greeting)
    const effects = page.getByTestId('effects')
    await eventually(() => effects.textContent()).toBe('No effects')
    await node(page, 'greet').click()
    await inspector(page).getByRole('button', { name: 'Run to here' }).click()
    await page.getByRole('dialog').getByText('without saving a version').waitFor()
    await page.getByRole('dialog').getByRole('textbox').fill('Ada')
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await eventually(() => node(page, 'greet').getAttribute('aria-label')).toContain('succeeded')
    await inspector(page).getByRole('tab', { name: 'Data' }).click()
    await inspector(page).getByRole('button', { name: 'Pin output' }).click()
    await inspector(page).getByRole('button', { name: 'Unpin output' }).waitFor()
    await eventually(() => effects.textContent()).toBe('1 step pinned')
    await page.getByLabel('Effects', { exact: true }).selectOption('mock')
    await page.reload()
    await eventually(() => page.getByTestId('effects').textContent()).toBe('1 step pinned')
    expect(await page.getByLabel('Effects', { exact: true }).inputValue()).toBe('mock')
    expect(await page.getByTestId('saved-state').textContent()).toBe('Version 1')
  })

  slow('shows problems while the user types, at the node, in the list and at the field', async () => {
    const { page } = await openEditor(site(), 'Problems', greeting)
    await node(page, 'greet').click()
    await writeCode(inspector(page).getByLabel('text, CEL'), 'input.name + ')
    await eventually(() => node(page, 'greet').getAttribute('aria-label')).toContain('has a problem')
    await eventually(() => inspector(page).locator('[data-field="/args/values/text"] .text-danger').count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.keyboard.press('p')
    const list = page.getByRole('region', { name: 'Problems' })
    await list.getByRole('button', { name: /Greet/ }).click()
    await eventually(() =>
      page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent ?? null),
    ).toBe('input.name + ')

    // Only the service refuses this definition; its message is shown at the node.
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await writeCode(inspector(page).getByLabel('text, CEL'), "'Good day ' + input.name")
    await eventually(() => page.getByRole('button', { name: 'No problems' }).count()).toBe(1)
  })

  slow('restores the draft after a reload, and can discard it', async () => {
    const { page, id } = await openEditor(site(), 'Drafts', greeting)
    await node(page, 'greet').click()
    await page.keyboard.press('Delete')
    await eventually(() => node(page, 'greet').count()).toBe(0)
    await page.reload()
    await page.getByText('Your unsaved changes were restored.').waitFor()
    expect(await node(page, 'greet').count()).toBe(0)
    await page.getByRole('button', { name: 'Discard' }).click()
    await node(page, 'greet').waitFor()
    await eventually(() => page.getByTestId('saved-state').textContent()).toBe('Version 1')
    await enter(page, id)
    await node(page, 'greet').waitFor()
    expect(await page.getByText('Your unsaved changes were restored.').count()).toBe(0)
  })

  slow('undoes, redoes, copies and pastes', async () => {
    const { page, visitor } = await openEditor(site(), 'Steps', greeting)
    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await node(page, 'greet').click()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Control+c')
    await page.keyboard.press('Control+v')
    await node(page, 'shout_2').waitFor()
    expect(await page.locator('.react-flow__edge:not([data-id^="start:"])').count()).toBe(2)
    await page.keyboard.press('Control+z')
    await eventually(() => node(page, 'shout_2').count()).toBe(0)
    await page.keyboard.press('Control+Shift+z')
    await node(page, 'shout_2').waitFor()
  })

  slow('opens the body of a map in its own canvas', async () => {
    const { page } = await openEditor(site(), 'Bodies')
    await addByKey(page, 'for each', 'map')
    await page.keyboard.press('o')
    await page.getByText('The loop body is empty').waitFor()
    await addByKey(page, 'set', 'set')
    await page.getByRole('navigation', { name: 'Bodies' }).waitFor()
    await page.keyboard.press('u')
    await eventually(() => focused(page)).toBe('map')
    await eventually(() => inspector(page).getByText('1 node').count()).toBe(1)
  })

  slow('saves versions, shows their differences on the canvas and restores an older version', async () => {
    const { page, id, visitor } = await openEditor(site(), 'Versions', greeting)
    await node(page, 'shout').click()
    await page.keyboard.press('Delete')
    await eventually(() => focused(page)).toBe('greet')
    await addByKey(page, 'wait', 'wait')
    await inspector(page).getByRole('button', { name: 'Delete node' }).waitFor()
    await page.keyboard.press('Escape')
    await inspector(page).getByRole('button', { name: 'Remove Output' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByLabel('What changed').fill('Waits instead')
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByText('Version 2 saved and active').waitFor()

    await page.getByRole('button', { name: 'Versions', exact: true }).click()
    const versions = page.getByRole('region', { name: 'Versions' })
    await versions.getByText('Waits instead').waitFor()
    await versions.getByRole('button', { name: 'Changes' }).click()
    await eventually(() => node(page, 'shout').getAttribute('aria-label')).toContain('removed')
    expect(await node(page, 'wait').getAttribute('aria-label')).toContain('added')
    await page.getByRole('button', { name: 'Back to the editor' }).click()

    await versions.getByRole('button', { name: 'Activate' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Activate' }).click()
    await page.getByText('Version 1 is active').waitFor()
    const { active_version_id } = await site().call(visitor, 'GET', `/api/workflows/${id}`)
    const { items } = await site().call(visitor, 'GET', `/api/workflows/${id}/versions`)
    expect(items.find((version: { number: number }) => version.number === 1).version_id).toBe(active_version_id)
  })

  slow('reports a newer version instead of overwriting it', async () => {
    const { page, id, visitor } = await openEditor(site(), 'Two windows', greeting)
    const other = await visitor.context
      .browser()!
      .newContext({ baseURL: site().service.base, storageState: await visitor.context.storageState() })
    const second = await other.newPage()
    await enter(second, id)
    for (const window of [page, second]) {
      await node(window, 'greet').click()
      await inspector(window)
        .getByLabel('Node name')
        .fill(window === page ? 'First' : 'Second')
    }
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByText('Version 2 saved and active').waitFor()

    await second.getByRole('button', { name: 'Save', exact: true }).click()
    await second.getByRole('button', { name: 'Save version' }).click()
    const dialog = second.getByRole('dialog', { name: 'Version 2 is newer than yours' })
    await dialog.waitFor()
    await dialog.getByRole('button', { name: 'Compare' }).click()
    await eventually(() => node(second, 'greet').getAttribute('aria-label')).toContain('changed')
    await second.getByRole('button', { name: 'Back to the editor' }).click()
    const { items } = await site().call(visitor, 'GET', `/api/workflows/${id}/versions`)
    expect(items).toHaveLength(2)
    await other.close()
  })

  slow('shows other users in the workflow, and is read-only for a user who may not edit it', async () => {
    const ada = await site().signUp('Ada')
    const max = await site().invite(ada, 'Max Member')
    const { user } = await site().call(max, 'GET', '/auth/me')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Shared',
      definition: greeting,
      members: [{ user_id: user.user_id, role: 'member' }],
    })
    await enter(max.page, workflow_id)
    await max.page.getByText('Only its owner can edit it').waitFor()
    expect(await max.page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
    await enter(ada.page, workflow_id)
    await eventually(() => ada.page.getByText('Max Member has this workflow open too').count()).toBe(1)
    await max.page.getByText('Ada is here too').waitFor({ state: 'attached' })
    await node(max.page, 'greet').hover()
    await ada.page.locator(`[data-cursor="${user.user_id}"]`, { hasText: 'Max Member' }).waitFor({ state: 'attached' })
  })

  slow('shows the text of tenants as plain text and keeps its content security policy', async () => {
    const evil = '<img src=x onerror="document.title=\'owned\'">'
    const { page } = await openEditor(site(), evil, {
      ...greeting,
      nodes: greeting.nodes.map((each) => ({ ...each, name: evil })),
    })
    await node(page, 'greet').click()
    await eventually(() => page.title()).toContain('Editor')
    expect(await page.locator('img').count()).toBe(0)
    expect(await inspector(page).getByLabel('Node name').inputValue()).toBe(evil)
  })

  slow('has no accessibility problems in either theme', async () => {
    const { page } = await openEditor(site(), 'For everybody', greeting)
    await node(page, 'greet').click()
    expect(await checkPage(page)).toEqual([])
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Find a node' }).waitFor()
    expect(await checkPage(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Versions', exact: true }).click()
    await page.getByRole('region', { name: 'Versions' }).getByText('Version 1', { exact: true }).waitFor()
    expect(await checkPage(page)).toEqual([])
  })
})
