import type { APIResponse, Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { readConfig } from '#platform/config'
import { openDatabase } from '#platform/db/pool'
import { makeLogger } from '#platform/log'
import { makeVault } from '#platform/secrets'
import { makeApp } from '#server/app'
import { buildConsole } from '#server/console'
import { chromiumPath, launchChromium } from '#test/harness/chromium'
import { median, percentile, startBenchDatabase } from './database.ts'
import { makeBenchPerson } from './world.ts'

// Runs the console in Chromium without a graphics card, for benchmarks: starts the service, signs in a user and
// measures frame times.

export type Bench = { browser: Browser; base: string; signUp(): Promise<BrowserContext>; stop(): Promise<void> }

/** Returns undefined if no browser is installed. */
export async function startBrowserBench(): Promise<Bench | undefined> {
  const executable = chromiumPath()
  if (!executable) return undefined
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
  return {
    browser,
    base,
    async signUp() {
      const context = await browser.newContext({ baseURL: base, viewport: { width: 1440, height: 900 } })
      const account = { email: `bench-${Date.now()}@example.com`, password: 'correct horse battery', name: 'Bench' }
      await readAnswer(context.request.post('/auth/sign-up', { data: account }))
      return context
    },
    async stop() {
      await browser.close()
      await app.stop()
      await db.close()
      await database.stop()
    },
  }
}

export type FrameTimes = { frames: number[]; work: number }

/** Returns the times between frames while `act` runs, and the processor time of the page's thread. */
export async function framesDuring(page: Page, act: () => Promise<void>): Promise<FrameTimes> {
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

/** Returns processor time in milliseconds. Unlike frame times, it does not depend on the other load of the machine. */
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

export async function readAnswer<Answer>(request: Promise<APIResponse>): Promise<Answer> {
  const response = await request
  if (!response.ok()) throw new Error(`${response.status()} ${await response.text()}`)
  return (await response.json()) as Answer
}

const rounded = (value: number): number => Math.round(value * 10) / 10
export const figures = ({ frames, work }: FrameTimes) => ({
  frames: frames.length,
  median_ms: rounded(median(frames)),
  p95_ms: rounded(percentile(frames, 95)),
  work_ms_per_frame: rounded(work / frames.length),
})
