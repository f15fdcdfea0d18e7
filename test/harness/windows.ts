import type { Browser, BrowserContext, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

// Windows of a browser, each with its own cookies and storage. A window that a test has finished with is cleared and
// reused: a new window starts a process and loads and compiles every script again, which took longer than most
// journeys.

export type Window = { page: Page; context: BrowserContext }

/** The timeout of a page in milliseconds; a busy machine may need most of it. */
const HANGS_AFTER = 120_000

const SIZE = { width: 1280, height: 860 }

export type Windows = {
  /** Opens a window for the rest of the running test. `fresh`: with empty caches, too. */
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

/** Clears everything of a visitor except the caches of files. */
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

/** Collects events that must never happen: violations of the security policy and uncaught errors. */
function watchFor(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)))
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedScript|TrustedHTML|Maximum update depth/i.test(message.text()))
      complaints.push(message.text())
  })
  return complaints
}
