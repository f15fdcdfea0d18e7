import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { figures, framesDuring, readAnswer, startBrowserBench } from './browser.ts'
import { median } from './database.ts'

// Measures how soon the first page can be used, with an empty browser cache, and how a list of 10,000 rows scrolls.

const ROWS = 10_000
const VISITS = 7

type Visit = { first_paint_ms: number; interactive_ms: number; scripts: number; script_bytes_gzipped: number }

/** Loads the page until it is interactive: it shows its content, and no task of 50 ms or more follows. */
async function visit(page: Page): Promise<Visit> {
  const sizes = new Map<string, number>()
  page.on('response', async (response) => {
    if (/\/assets\/.*\.js$/.test(response.url()))
      sizes.set(response.url(), gzipSync(await response.body(), { level: 9 }).length)
  })
  await page.addInitScript(() => {
    Object.assign(window, { longTasks: [] as number[] })
    new PerformanceObserver((list) => {
      for (const task of list.getEntries())
        (window as unknown as { longTasks: number[] }).longTasks.push(task.startTime + task.duration)
    }).observe({ type: 'longtask', buffered: true })
  })
  await page.goto('/')
  await page.getByText('Your first workflow').waitFor()
  const shown = await page.evaluate(() => performance.now())
  await page.waitForLoadState('networkidle')
  const seen = await page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
    busyUntil: Math.max(0, ...(window as unknown as { longTasks: number[] }).longTasks),
  }))
  return {
    first_paint_ms: Math.round(seen.paint),
    interactive_ms: Math.round(Math.max(shown, seen.busyUntil)),
    scripts: sizes.size,
    script_bytes_gzipped: [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0),
  }
}

const bench = await startBrowserBench()
if (!bench) process.exit(0)
try {
  const visits: Visit[] = []
  for (let count = 0; count < VISITS; count += 1) {
    const context = await bench.signUp()
    visits.push(await visit(await context.newPage()))
    await context.close()
  }
  const context = await bench.signUp()
  const records = Array.from({ length: ROWS }, (_, index) => ({
    name: `Person ${index}`,
    score: index % 97,
    city: 'Lyon',
  }))
  const { dataset_id } = await readAnswer<{ dataset_id: string }>(
    context.request.post('/api/datasets', { data: { name: 'Many', records } }),
  )
  const page = await context.newPage()
  await page.goto(`/datasets/${dataset_id}`)
  const table = page.getByRole('table')
  await table.waitFor()
  // Scrolls to the end first, because each part is fetched when it is reached.
  await page.waitForFunction((rows) => {
    const found = document.querySelector('table')!
    found.parentElement!.scrollTop = found.parentElement!.scrollHeight
    return Number(found.getAttribute('aria-rowcount')) >= rows
  }, ROWS)
  const box = (await table.locator('..').boundingBox())!
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  const scroll = figures(
    await framesDuring(page, async () => {
      for (let step = 0; step < 60; step += 1) await page.mouse.wheel(0, step < 30 ? -900 : 900)
    }),
  )
  const figure = (name: keyof Visit) => median(visits.map((one) => one[name]))
  console.log(
    JSON.stringify(
      {
        first_page: {
          first_paint_ms: figure('first_paint_ms'),
          interactive_ms: figure('interactive_ms'),
          scripts: figure('scripts'),
          script_bytes_gzipped: figure('script_bytes_gzipped'),
        },
        list: { rows: ROWS, in_the_page: await table.getByRole('row').count(), scroll },
      },
      null,
      2,
    ),
  )
} finally {
  await bench.stop()
}
process.exit(0)
