import type { Browser, BrowserContext, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

// Windows of a browser, each with cookies and storage of its own. One that a test is done with is emptied and given to the next:
// a new one starts a process and reads and compiles every script again, which took longer than most journeys.

export type Window = { page: Page; context: BrowserContext }

/** A page that takes longer hangs; a busy machine may need most of it. */
const HANGS_AFTER = 120_000

const SIZE = { width: 1280, height: 860 }

export type Windows = {
  /** For the rest of the running test. `fresh`: with nothing in its caches either. */
  open(base: string, options?: { fresh?: boolean }): Promise<Window>
}

export function makeWindows(browser: Browser): Windows {
  const idle = new Map<string, Window[]>()

  return {
    async open(base, { fresh = false } = {}) {
      const window = (!fresh && idle.get(base)?.pop()) || (await makeWindow(browser, base))
      const complaints = watchFor(window.page)
      onTestFinished(async ({ task }) => {
        const emptied = !fresh && task.result?.state === 'pass' && (await empty(window, base).catch(() => false))
        if (emptied) idle.set(base, [...(idle.get(base) ?? []), window])
        else await window.context.close()
        if (complaints.length > 0) throw new Error(`the browser complained: ${complaints.join('\n')}`)
      })
      return window
    },
  }
}

async function makeWindow(browser: Browser, base: string): Promise<Window> {
  const context = await browser.newContext({ baseURL: base, viewport: SIZE })
  context.setDefaultTimeout(HANGS_AFTER)
  return { context, page: await context.newPage() }
}

/** Nothing of one visitor is left for the next but the caches of files. */
async function empty({ page, context }: Window, base: string): Promise<boolean> {
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll()
  if (new URL(page.url()).origin === base) await page.evaluate(() => sessionStorage.clear())
  await page.goto('about:blank')
  page.removeAllListeners()
  const protocol = await context.newCDPSession(page)
  await protocol.send('Storage.clearDataForOrigin', { origin: base, storageTypes: 'all' })
  await protocol.detach()
  await context.clearCookies()
  await context.clearPermissions()
  await context.setExtraHTTPHeaders({})
  await page.emulateMedia({ colorScheme: null, reducedMotion: null })
  await page.setViewportSize(SIZE)
  return true
}

/** What no page may ever do: break its own security policy, or fail outright. */
function watchFor(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)))
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedScript|TrustedHTML|Maximum update depth/i.test(message.text()))
      complaints.push(message.text())
  })
  return complaints
}
