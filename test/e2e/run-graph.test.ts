import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { eventually, navigateTo, noBrowser, useSite } from '#test/harness/site'

const line = {
  nodes: [
    { id: 'line', type: 'set', name: 'Line', args: { values: { n: { $cel: 'item * 10.0' } } } },
    { id: 'size', type: 'branch', name: 'Size', args: { cases: [{ port: 'big', when: { $cel: 'item > 1.0' } }] } },
    { id: 'big', type: 'set', name: 'Big', args: { values: { size: 'big' } } },
  ],
  edges: [
    { from: { node: 'line' }, to: 'size' },
    { from: { node: 'size', port: 'big' }, to: 'big' },
  ],
  output: { $ref: 'nodes.line.output' },
}
const definition = {
  nodes: [
    { id: 'amount', type: 'set', name: 'Amount', args: { values: { sum: 7 } } },
    {
      id: 'way',
      type: 'branch',
      name: 'Way',
      args: { cases: [{ port: 'large', when: { $cel: 'nodes.amount.output.sum > 5.0' } }] },
    },
    { id: 'ask', type: 'set', name: 'Ask', args: { values: {} } },
    { id: 'pass', type: 'set', name: 'Pass', args: { values: {} } },
    { id: 'each', type: 'map', name: 'Each', args: { items: [1, 2], body: line } },
  ],
  edges: [
    { from: { node: 'amount' }, to: 'way' },
    { from: { node: 'way', port: 'large' }, to: 'ask' },
    { from: { node: 'way', port: 'default' }, to: 'pass' },
    { from: { node: 'ask' }, to: 'each' },
    { from: { node: 'pass' }, to: 'each' },
    // Two edges lead into a node that ran. Only the condition shows that this edge was not taken.
    { from: { node: 'amount' }, to: 'each', when: { $cel: 'nodes.amount.output.sum > 100.0' } },
  ],
}

describe.skipIf(noBrowser)('the graph of a run', () => {
  const site = useSite()

  it('fits into its area, also after its definition is loaded and after the area changes its size', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const nodes = [
      { id: 'a', type: 'set', name: 'First', args: { values: {} } },
      { id: 'w', type: 'wait', name: 'Rest', args: { for_s: 86_400 } },
      { id: 'b', type: 'set', name: 'Last', args: { values: {} } },
    ]
    const edges = [
      { from: { node: 'a' }, to: 'w' },
      { from: { node: 'w' }, to: 'b' },
    ]
    const made = await site().call(ada, 'POST', '/api/workflows', { name: 'Rests', definition: { nodes, edges } })
    const { execution_id } = await site().call(ada, 'POST', `/api/workflows/${made.workflow_id}/run`, {})
    const areInside = () =>
      page.evaluate(() => {
        const place = document.querySelector('.react-flow')!.getBoundingClientRect()
        const cards = [...document.querySelectorAll('.react-flow [data-node]')].map((card) =>
          card.getBoundingClientRect(),
        )
        return (
          cards.length === 3 &&
          cards.every(({ left, right, top, bottom }) => {
            return left >= place.left && right <= place.right && top >= place.top && bottom <= place.bottom
          })
        )
      })
    // Until the version is loaded, the page shows the steps without their edges, below each other.
    const isLoaded = Promise.withResolvers<void>()
    await page.route(/\/versions\?/, async (route) => {
      await isLoaded.promise
      await route.continue()
    })
    await page.goto(`/runs/${execution_id}`)
    await page.locator('[data-node="w"]').waitFor()
    await eventually(areInside).toBe(true)
    isLoaded.resolve()
    await page.locator('[data-node="w"]').getByText('1 d').waitFor()
    await eventually(areInside).toBe(true)
    await page.setViewportSize({ width: 1000, height: 700 })
    await eventually(areInside).toBe(true)
  })

  it('shows the edges that were taken, and opens the items of a map', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Ways', definition })
    const { execution_id } = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run?wait_s=60`, {})
    await page.goto(`/runs/${execution_id}`)
    const taken = (from: string, to: string) => page.getByRole('img', { name: `${from} to ${to}, taken` })
    const left = (from: string, to: string) => page.getByRole('img', { name: `${from} to ${to}, not taken` })
    await taken('Way', 'Ask').waitFor()
    expect(await taken('Ask', 'Each').count()).toBe(1)
    expect(await left('Way', 'Pass').count()).toBe(1)
    expect(await left('Pass', 'Each').count()).toBe(1)
    await left('Amount', 'Each').waitFor()
    await page.getByRole('button', { name: 'Pass, Set values, skipped' }).waitFor()
    await checkPage(page)

    // Arrow keys follow the edges, and the address names the node.
    await page.getByRole('button', { name: 'Ask, Set values, succeeded' }).focus()
    await page.keyboard.press('Enter')
    const step = page.getByRole('complementary', { name: 'Selected step' })
    await step.getByRole('heading', { name: 'Ask' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await step.getByRole('heading', { name: 'Each' }).waitFor()
    expect(new URL(page.url()).searchParams.get('node')).toBe('each')

    const items = step.getByRole('region', { name: 'Items' })
    await items.getByRole('button').nth(1).click()
    await items.getByRole('button', { name: 'Show its steps' }).click()
    await step.getByRole('heading', { name: 'Line' }).waitFor()
    expect(new URL(page.url()).searchParams.get('node')).toBe('each[1].line')
    await step.getByRole('region', { name: 'Output of the step' }).getByText('20').first().waitFor()
    await taken('Size', 'Big').waitFor()
    await page.getByRole('button', { name: 'Previous item' }).click()
    await left('Size', 'Big').waitFor()
    await step.getByRole('region', { name: 'Output of the step' }).getByText('10').first().waitFor()

    // The address alone opens the step, and a button leads back to the whole run.
    await navigateTo(page, `/runs/${execution_id}?node=${encodeURIComponent('each[1].big')}`)
    await step.getByRole('heading', { name: 'Big' }).waitFor()
    await page.getByRole('navigation', { name: 'Bodies' }).getByRole('button', { name: 'Each' }).click()
    await taken('Ask', 'Each').waitFor()
    await eventually(async () => new URL(page.url()).searchParams.get('node')).toBe('each')

    // Steps are found by their name, type and data, also inside maps. The address contains the search and the
    // selection.
    const find = page.getByRole('searchbox', { name: 'Find a step' })
    const found = page.getByRole('list', { name: 'Steps found' }).getByRole('button')
    await find.fill('"sum":7')
    await eventually(() => found.allTextContents()).toEqual(['AmountSucceeded', 'WaySucceeded'])
    await find.fill('size')
    await eventually(() => found.allTextContents()).toEqual(['EachSucceeded', 'Each › Size', 'Each › Big'])
    await eventually(async () => new URL(page.url()).searchParams.get('q')).toBe('size')
    await found.last().click()
    await step.getByRole('heading', { name: 'Big' }).waitFor()
    await eventually(async () => new URL(page.url()).search).toBe('?node=each%5B0%5D.big&q=size')
    await page.reload()
    await step.getByRole('heading', { name: 'Big' }).waitFor()
    await eventually(() => found.count()).toBe(3)
    await find.fill('nowhere to be found')
    await page.getByText('Nothing matches').waitFor()
    await page.getByRole('button', { name: 'Clear search' }).click()
    await page
      .getByRole('button', { name: /^Amount.*Succeeded/ })
      .first()
      .waitFor()
  })
})
