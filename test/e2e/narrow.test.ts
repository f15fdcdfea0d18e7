import { describe, expect, it } from 'vitest'
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

  it('a node is dragged from the palette with a finger, and a swipe along the list scrolls the list', async () => {
    const ada = await site().signUp('Ada')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Small' })
    const { page, context } = ada
    await page.setViewportSize(PHONE)
    await page.goto(`/workflows/${workflow_id}/editor`)
    const protocol = await context.newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...points: { x: number; y: number }[]) =>
      protocol.send('Input.dispatchTouchEvent', { type, touchPoints: points })
    await page.getByRole('button', { name: 'Show the palette' }).click()
    const palette = page.getByRole('region', { name: 'Palette' })
    const box = (await palette.getByRole('button', { name: 'Set values' }).boundingBox())!
    const from = { x: box.x + 60, y: box.y + box.height / 2 }
    await touch('touchStart', from)
    await touch('touchMove', { x: from.x + 1, y: from.y - 60 })
    await touch('touchMove', { x: from.x + 2, y: from.y - 120 })
    await touch('touchEnd')
    expect(await page.locator('[data-node]').count()).toBe(0)
    await palette.getByRole('button', { name: 'Set values' }).scrollIntoViewIfNeeded()
    const again = (await palette.getByRole('button', { name: 'Set values' }).boundingBox())!
    const start = { x: again.x + 60, y: again.y + again.height / 2 }
    await touch('touchStart', start)
    for (const step of [20, 60, 120]) await touch('touchMove', { x: start.x + step, y: start.y })
    await touch('touchMove', { x: 220, y: 420 })
    await touch('touchEnd')
    await palette.waitFor({ state: 'detached' })
    await eventually(() => page.locator('[data-node]').count()).toBe(1)
    await protocol.detach()
  })

  it('the navigation opens, changes the page and closes', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.setViewportSize(PHONE)
    await page.goto('/')
    await page.getByRole('button', { name: 'Open navigation' }).click()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Datasets' }).click()
    await page.getByRole('heading', { name: 'Datasets', level: 1 }).waitFor()
    await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'hidden' })
  })

  it('a word that is longer than the screen is broken, and no page scrolls sideways', async () => {
    const ada = await site().signUp('Ada')
    const word = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft'
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: word,
      description: word,
      definition: { nodes: [{ id: 'stop', name: word, type: 'fail', args: { message: word } }], edges: [] },
    })
    const run = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run?wait_s=60`, { input: {} })
    const team = await site().call(ada, 'POST', '/api/teams', { name: 'Desk', description: word })
    const { page } = ada
    await page.setViewportSize(PHONE)
    for (const [path, name] of [
      [`/workflows/${workflow_id}`, word],
      [`/runs/${run.execution_id}`, word],
      [`/teams/${team.team_id}`, 'Desk'],
    ] as const) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await page.getByText(word).last().waitFor()
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect({ path, over }).toEqual({ path, over: 0 })
    }
  })
})

describe.skipIf(noBrowser)('on a tablet', () => {
  const site = useSite()

  it('the names in a list with many columns can be read', async () => {
    const ada = await site().signUp('Ada')
    await site().call(ada, 'POST', '/api/datasets', { name: 'Leads of October', records: [{ n: 1 }] })
    const { page } = ada
    await page.setViewportSize({ width: 820, height: 1100 })
    await page.goto('/datasets')
    const name = page.getByRole('link', { name: 'Leads of October' })
    await name.waitFor()
    expect(await name.evaluate((link) => link.closest('td')!.clientWidth)).toBeGreaterThanOrEqual(128)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0)
  })
})
