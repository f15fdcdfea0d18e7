import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { navigateTo, noBrowser, useSite } from '#test/harness/site'

const eventually = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 20_000 })

describe.skipIf(noBrowser)('the start of runs', () => {
  const site = useSite()

  it('is paused and resumed, limited, and planned by several schedules', { timeout: 120_000 }, async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Orders',
      definition: { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] },
    })
    const workflow = () => site().call(ada, 'GET', `/api/workflows/${workflow_id}`)
    await page.goto(`/workflows/${workflow_id}/settings`)

    await page.getByRole('button', { name: 'Pause workflow' }).click()
    await page.getByText('New runs wait.').waitFor()
    expect((await workflow()).paused_at).not.toBeNull()
    await page.getByRole('button', { name: 'Resume workflow' }).click()
    await page.getByRole('button', { name: 'Pause workflow' }).waitFor()
    expect((await workflow()).paused_at).toBeNull()

    const rules = page.locator('section', { hasText: 'When runs start' })
    await rules.getByLabel('Runs at once').fill('1')
    await rules.getByLabel('For each value of').fill('input.customer')
    await rules.getByLabel('A waiting run').selectOption('live')
    await rules.getByRole('button', { name: 'Save' }).click()
    await eventually(async () => (await workflow()).settings).toEqual({
      concurrency: { key: { $cel: 'input.customer' }, limit: 1, count: 'live', when_full: 'queue' },
    })

    const dialog = page.getByRole('dialog', { name: 'Add schedule' })
    for (const when of ['Every hour', 'Every day']) {
      await page.getByRole('button', { name: 'Add schedule' }).click()
      await dialog.getByLabel('When', { exact: true }).selectOption(when)
      await dialog.getByLabel('If the previous run has not ended').selectOption('skip')
      await dialog.getByRole('button', { name: 'Save schedule' }).click()
      await dialog.waitFor({ state: 'hidden' })
    }
    const times = page.getByRole('list', { name: 'Next times' })
    await times.nth(1).waitFor()
    expect(await times.first().getByRole('listitem').count()).toBe(5)
    const menu = page.getByRole('button', { name: /^Actions for / }).first()
    await menu.click()
    await page.getByRole('menuitem', { name: 'Switch off' }).click()
    await page.getByText('Switched off.').waitFor()
    await menu.click()
    await page.getByRole('menuitem', { name: 'Remove schedule…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove schedule' }).click()
    await page.getByText('Switched off.').waitFor({ state: 'detached' })
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/schedules`)
    expect(items).toMatchObject([{ overlap: 'skip', enabled: true }])
  })

  it('is triggered by a service; its trigger is added, disabled and deleted in the console', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Feed',
      definition: { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] },
    })
    const triggers = async () => (await site().call(ada, 'GET', `/api/workflows/${workflow_id}/triggers`)).items
    await page.goto(`/workflows/${workflow_id}/settings`)
    await page.getByRole('button', { name: 'Add trigger' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add trigger' })

    // A trigger that needs an account is refused without one.
    await dialog.getByLabel('Service').selectOption('slack')
    await dialog.getByLabel('Starts with').selectOption('new_user')
    await dialog.getByRole('button', { name: 'Save trigger' }).click()
    await dialog.getByText('Choose an account.').waitFor()

    await dialog.getByLabel('Service').selectOption('rss')
    await dialog.getByLabel('Check for new items').selectOption('Every hour')
    await dialog.getByLabel('URL').fill('https://feed.invalid/items.xml')
    expect(await checkPage(page, ['light', 'dark'])).toEqual([])
    await dialog.getByRole('button', { name: 'Save trigger' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('RSS: A new item in a feed').waitFor()
    expect(await triggers()).toMatchObject([
      { service: 'rss', trigger: 'new_item', every_s: 3600, args: { url: 'https://feed.invalid/items.xml' } },
    ])

    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('Off: it starts no runs').waitFor()
    expect(await triggers()).toMatchObject([{ enabled: false }])

    // The trigger is shown before the first step, and is enabled and deleted there.
    await navigateTo(page, `/workflows/${workflow_id}/editor`)
    await page.getByRole('button', { name: 'RSS: A new item in a feed (off)' }).click()
    const shown = page.getByRole('dialog', { name: 'RSS: A new item in a feed' })
    await shown.getByText('Checks every').waitFor()
    await shown.getByRole('button', { name: 'Switch on' }).click()
    await shown.getByRole('button', { name: 'Switch off' }).waitFor()
    expect(await triggers()).toMatchObject([{ enabled: true }])
    await shown.getByRole('button', { name: 'Delete trigger' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete trigger' }).click()
    await eventually(async () => (await triggers()).length).toBe(0)
  })

  it('is repeated for several failed runs at once', { timeout: 120_000 }, async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Broken',
      definition: { nodes: [{ id: 'f', type: 'fail', args: { code: 'broken', message: 'on purpose' } }], edges: [] },
    })
    for (let n = 0; n < 2; n += 1) await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run?wait_s=60`, {})
    await page.goto('/runs?status=failed,timed_out')
    await page.getByRole('button', { name: 'Retry all' }).click()
    await page.getByRole('button', { name: 'Retry runs' }).click()
    await page.getByText('Done: 2 of 2 runs').waitFor()
    await eventually(
      async () => (await site().call(ada, 'GET', `/api/executions?workflow_id=${workflow_id}`)).items.length,
    ).toBe(4)
  })
})
