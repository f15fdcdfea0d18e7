import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { eventually, noBrowser, useSite } from '#test/harness/site'

const definition = {
  nodes: [
    { id: 'a', type: 'set', name: 'First', args: { values: { n: 1 } } },
    { id: 'b', type: 'set', name: 'Second', args: { values: { secret_word: 'pumpernickel' } } },
  ],
  edges: [{ from: { node: 'a' }, to: 'b' }],
  layout: { positions: { a: { x: 0, y: 0 }, b: { x: 420, y: 160 } } },
}

describe.skipIf(noBrowser)('the canvas', () => {
  const site = useSite()

  it('has notes, a menu, a plus on edges, a search, and side panels that collapse', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Drawn', definition })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="a"]').waitFor()
    await eventually(() => page.getByTestId('live-version').textContent()).toBe('Live')

    await page.locator('[data-canvas]').press('n')
    await page.getByRole('textbox', { name: 'Note' }).fill('Ask the shop first')
    await checkPage(page)
    await page.locator('[data-node="a"]').click()
    await eventually(() => page.getByTestId('live-version').textContent()).toBe('Live: version 1')

    // Finds a node by a text in its arguments.
    await page.keyboard.press('Control+f')
    await page.getByRole('combobox', { name: 'Find in the workflow' }).fill('pumper')
    await page.keyboard.press('Enter')
    await eventually(() => page.locator('[data-node="b"]').getAttribute('aria-pressed')).toBe('true')

    await page.locator('[data-node="b"]').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await eventually(() => page.locator('[data-node]').count()).toBe(3)
    await page.keyboard.press('Control+z')

    const edge = page.locator('.react-flow__edge path.react-flow__edge-interaction').first()
    await edge.hover({ force: true })
    await page.getByRole('button', { name: 'Insert a node here' }).click()
    await page.getByRole('combobox', { name: 'Find a node' }).fill('wait')
    await page.keyboard.press('Enter')
    await eventually(() => page.locator('[data-node="wait"]').count()).toBe(1)
    await eventually(() => page.locator('.react-flow__edge:not([data-id^="start:"])').count()).toBe(2)

    await page.getByRole('button', { name: 'Hide the inspector' }).click()
    await page.getByRole('region', { name: 'Inspector' }).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Show the inspector' }).click()
    await page.getByRole('region', { name: 'Inspector' }).waitFor()

    // Notes are saved with the version.
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/versions`)
    expect(items[0].definition.layout.notes).toMatchObject([{ text: 'Ask the shop first' }])
  })

  it('shows the start of a graph that is too wide, and the whole graph after one click', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const ids = Array.from({ length: 16 }, (_, index) => `n${index}`)
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Wide',
      definition: {
        nodes: ids.map((id) => ({ id, type: 'set', args: { values: {} } })),
        edges: ids.slice(1).map((id, index) => ({ from: { node: ids[index] }, to: id })),
      },
    })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`/workflows/${workflow_id}/editor`)
    const first = page.locator('[data-node="n0"]')
    await first.waitFor()
    const canvas = (await page.locator('[data-canvas]').boundingBox())!
    const place = (await first.boundingBox())!
    expect(place.x).toBeGreaterThan(canvas.x)
    expect(place.width).toBeGreaterThan(160)
    const start = (await page.getByRole('button', { name: /^By hand/ }).boundingBox())!
    expect(start.x).toBeGreaterThanOrEqual(canvas.x)
    await page.getByRole('button', { name: 'Fit to screen (F)' }).click()
    await eventually(async () => {
      const last = (await page.locator('[data-node="n15"]').boundingBox())!
      return last.x + last.width < canvas.x + canvas.width
    }).toBe(true)
  })

  it('lets a node be dragged by the pointer, and saves its position', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Moved', definition })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`/workflows/${workflow_id}/editor`)
    const node = page.locator('[data-node="a"]')
    await node.waitFor()
    const before = (await node.boundingBox())!
    const [x, y] = [before.x + 60, before.y + 20]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 40, y + 60, { steps: 3 })
    await page.mouse.move(x + 80, y + 120, { steps: 3 })
    await page.mouse.up()
    // The first pixels do not move the node, because they only distinguish a drag from a click.
    await eventually(async () => (await node.boundingBox())!.y - before.y).toBeGreaterThan(80)

    await page.keyboard.press('Control+s')
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/versions`)
    const { a, b } = items[0].definition.layout.positions
    expect(a.y).toBeGreaterThan(0)
    expect(b).toEqual(definition.layout.positions.b)
  })
})
