import type { APIResponse, CDPSession, Page } from 'playwright-core'
import { readConfig } from '#platform/config'
import { openDatabase } from '#platform/db/pool'
import { makeLogger } from '#platform/log'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { buildConsole } from '#server/console'
import { chromiumPath, launchChromium } from '#test/harness/chromium'
import { median, percentile, startBenchDatabase } from './database.ts'
import { makeBenchPerson } from './world.ts'

// How the editor feels with the largest workflow there may be: frames while a graph of 500 nodes is moved and zoomed, a node
// dragged and a letter typed, in Chromium without a graphics card.

const NODES = 500

/** Twenty rows of chains with branches that lead from one row to the next. */
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

type Watched = { frames: number[]; work: number }

/** The time from one frame to the next while `act` goes on, and the processor time of the page's thread in it. */
async function framesDuring(page: Page, act: () => Promise<void>): Promise<Watched> {
  const before = await workOf(page)
  await page.evaluate(() => {
    const frames: number[] = []
    let last = performance.now()
    const watch = (now: number): void => {
      frames.push(now - last)
      last = now
      if (document.body.dataset.watched !== 'done') requestAnimationFrame(watch)
    }
    delete document.body.dataset.watched
    Object.assign(window, { frames })
    requestAnimationFrame(watch)
  })
  await act()
  const frames = await page.evaluate(() => {
    document.body.dataset.watched = 'done'
    return (window as unknown as { frames: number[] }).frames.slice(2)
  })
  return { frames, work: (await workOf(page)) - before }
}

const sessions = new WeakMap<Page, CDPSession>()

/** Milliseconds of processor time: unlike the frames they do not depend on what else the machine does. */
async function workOf(page: Page): Promise<number> {
  let session = sessions.get(page)
  if (!session) {
    session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    sessions.set(page, session)
  }
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000
}

async function answered<Answer>(request: Promise<APIResponse>): Promise<Answer> {
  const response = await request
  if (!response.ok()) throw new Error(`${response.status()} ${await response.text()}`)
  return (await response.json()) as Answer
}

const rounded = (value: number): number => Math.round(value * 10) / 10
const figures = ({ frames, work }: Watched) => ({
  frames: frames.length,
  median_ms: rounded(median(frames)),
  p95_ms: rounded(percentile(frames, 95)),
  work_ms_per_frame: rounded(work / frames.length),
})

const executable = chromiumPath()
if (!executable) process.exit(0)
const log = makeLogger('error')
const database = await startBenchDatabase()
await makeBenchPerson(database)
const db = openDatabase({ urls: database.urls, log })
const pages = await buildConsole(log)
let base = ''
const app = await makeApp({
  config: readConfig({ HEDDLE_RATE_LIMITS: 'off', HEDDLE_DATA_DIR: '/tmp/heddle-bench-editor' }),
  db,
  vault: makeVault(Buffer.alloc(32, 1)),
  log,
  baseUrl: () => base,
  pages,
})
base = await app.http.listen({ host: '127.0.0.1', port: 0 })
const browser = await launchChromium(executable)

try {
  const context = await browser.newContext({ baseURL: base, viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const account = { email: `bench-${Date.now()}@example.com`, password: 'correct horse battery', name: 'Bench' }
  await answered(context.request.post('/auth/sign-up', { data: account }))
  const { workflow_id } = await answered<{ workflow_id: string }>(
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
  await page.getByRole('button', { name: 'Show everything (F)' }).click()
  await page.waitForFunction((count) => document.querySelectorAll('[data-node]').length === count, NODES)
  const all = {
    pan: figures(await framesDuring(page, wheel)),
    zoom: figures(await framesDuring(page, zoom)),
  }

  await page.getByRole('button', { name: 'Show everything (F)' }).click()
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
  const name = page.getByLabel('Name of the node')
  await name.click()
  const typing = figures(
    await framesDuring(page, () => name.pressSequentially('The first node', { delay: 30, timeout: 120_000 })),
  )

  console.log(JSON.stringify({ nodes: NODES, opened_ms, checked_ms, near, all, move_node, typing }, null, 2))
} finally {
  await browser.close()
  await app.stop()
  await db.close()
  await database.stop()
}
process.exit(0)
