import { figures, framesDuring, readAnswer, startBrowserBench } from './browser.ts'

// Measures the editor with the largest possible workflow: frame times while a graph of 500 nodes is moved and zoomed, a
// node is dragged and a letter is typed, in Chromium without a graphics card.

const NODES = 500

/** Returns twenty rows of chains with branches that lead from one row to the next. */
function largest(): unknown {
  const nodes: unknown[] = []
  const edges: unknown[] = []
  const positions: Record<string, unknown> = {}
  for (let index = 0; index < NODES; index += 1) {
    const [row, column] = [Math.floor(index / 25), index % 25]
    const id = `n${index}`
    positions[id] = { x: column * 290, y: row * 140 }
    const branches = column % 5 === 3 && row < 19
    nodes.push(
      branches
        ? { id, type: 'branch', args: { cases: [{ port: 'down', when: { $cel: `input.x > ${index}` } }] } }
        : { id, type: 'set', args: { values: { text: { $cel: `'node ' + string(${index})` } } } },
    )
    if (column > 0) {
      const port = (column - 1) % 5 === 3 && row < 19 ? 'default' : undefined
      edges.push({ from: { node: `n${index - 1}`, ...(port && { port }) }, to: id })
    }
    if (branches) edges.push({ from: { node: id, port: 'down' }, to: `n${index + 26}` })
  }
  return { inputs: { type: 'object', properties: { x: { type: 'number' } } }, nodes, edges, layout: { positions } }
}

const bench = await startBrowserBench()
if (!bench) process.exit(0)

try {
  const context = await bench.signUp()
  const page = await context.newPage()
  const { workflow_id } = await readAnswer<{ workflow_id: string }>(
    context.request.post('/api/workflows', { data: { name: 'Largest', definition: largest() } }),
  )

  const began = performance.now()
  await page.goto(`/workflows/${workflow_id}/editor`)
  await page.locator('[data-node]').first().waitFor()
  const opened_ms = Math.round(performance.now() - began)
  await page.getByRole('button', { name: 'No problems' }).waitFor()
  const checked_ms = Math.round(performance.now() - began)

  const box = (await page.locator('[data-canvas]').boundingBox())!
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const wheel = async (): Promise<void> => {
    await page.mouse.move(middle.x, middle.y)
    for (let step = 0; step < 30; step += 1) await page.mouse.wheel(60, 20)
  }
  const zoom = async (): Promise<void> => {
    await page.mouse.move(middle.x, middle.y)
    await page.keyboard.down('Control')
    for (let step = 0; step < 30; step += 1) await page.mouse.wheel(0, step < 15 ? 40 : -40)
    await page.keyboard.up('Control')
  }

  const near = { pan: figures(await framesDuring(page, wheel)), zoom: figures(await framesDuring(page, zoom)) }
  await page.getByRole('button', { name: 'Fit to screen (F)' }).click()
  await page.waitForFunction((count) => document.querySelectorAll('[data-node]').length === count, NODES)
  const all = {
    pan: figures(await framesDuring(page, wheel)),
    zoom: figures(await framesDuring(page, zoom)),
  }

  await page.getByRole('button', { name: 'Fit to screen (F)' }).click()
  const one = (await page.locator('[data-node="n262"]').boundingBox())!
  const move_node = figures(
    await framesDuring(page, async () => {
      await page.mouse.move(one.x + 4, one.y + 4)
      await page.mouse.down()
      for (let step = 0; step < 30; step += 1) await page.mouse.move(one.x + step * 3, one.y + Math.sin(step / 5) * 40)
      await page.mouse.up()
    }),
  )
  await page.locator('[data-node="n0"]').click()
  const name = page.getByLabel('Node name')
  await name.click()
  const typing = figures(
    await framesDuring(page, () => name.pressSequentially('The first node', { delay: 30, timeout: 120_000 })),
  )

  console.log(JSON.stringify({ nodes: NODES, opened_ms, checked_ms, near, all, move_node, typing }, null, 2))
} finally {
  await bench.stop()
}
process.exit(0)
