import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { makeLogger } from '#platform/log'
import { buildConsole } from '#server/console'
import { freshEmail, PASSWORD } from './browser.ts'
import { chromiumPath, launchChromium } from './chromium.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'

// The service with its console, and people at it in a real browser.

const path = chromiumPath()

/** For `describe.skipIf(noBrowser)`. */
export const noBrowser = path === undefined

export type Visitor = { page: Page; context: BrowserContext; email: string }

export type Site = {
  service: Service
  browser: Browser
  /** A browser window of its own, with nobody signed in. */
  visit(base?: string): Promise<Visitor>
  /** Somebody with a new account and workspace, on the home page. */
  signUp(name: string, base?: string): Promise<Visitor>
  /** A colleague, invited by `owner` into the workspace that they have selected. */
  invite(owner: Visitor, name: string, role?: 'owner' | 'member' | 'viewer'): Promise<Visitor>
  /** Calls the service as this person, in their session. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  call(visitor: Visitor, method: string, path: string, body?: unknown): Promise<any>
}

/** The whole service with its console, and a browser, for one test file. */
export function useSite(options: ServiceOptions = {}): () => Site {
  let site: (Site & { stop(): Promise<void> }) | undefined
  beforeAll(async () => {
    site = await openSite(options)
  }, 120_000)
  afterAll(() => site?.stop())
  return () => site!
}

async function openSite(options: ServiceOptions): Promise<Site & { stop(): Promise<void> }> {
  const pages = await buildConsole(makeLogger('error'))
  if (pages === undefined) throw new Error('the console could not be built')
  const service = await startService({ ...options, pages })
  const browser = await launchChromium(path!)

  const visit = async (base = service.base): Promise<Visitor> => {
    const context = await browser.newContext({ baseURL: base, viewport: { width: 1280, height: 860 } })
    const page = await context.newPage()
    const complaints = watchFor(page)
    onTestFinished(async () => {
      await context.close()
      if (complaints.length > 0) throw new Error(`the browser complained: ${complaints.join('\n')}`)
    })
    return { page, context, email: freshEmail() }
  }

  const call: Site['call'] = async ({ context }, method, address, body) => {
    const answer = await context.request.fetch(address, { method, ...(body !== undefined && { data: body }) })
    if (!answer.ok()) throw new Error(`${method} ${address}: ${answer.status()} ${await answer.text()}`)
    return answer.status() === 204 ? undefined : answer.json()
  }

  const signUp: Site['signUp'] = async (name, base) => {
    const visitor = await visit(base)
    await call(visitor, 'POST', '/auth/sign-up', {
      email: visitor.email,
      password: PASSWORD,
      name,
      workspace_name: `${name}'s place`,
    })
    return visitor
  }

  const invite: Site['invite'] = async (owner, name, role = 'member') => {
    const { selected_workspace_id } = await call(owner, 'GET', '/auth/me')
    const visitor = await visit()
    const { link } = await call(owner, 'POST', `/api/workspaces/${selected_workspace_id}/members/invite`, {
      email: visitor.email,
      role,
    })
    await call(visitor, 'POST', `/auth/invitations/${link.split('/').at(-1)}/accept`, { name, password: PASSWORD })
    return visitor
  }

  return {
    service,
    browser,
    visit,
    signUp,
    invite,
    call,
    async stop() {
      await browser.close()
      await service.stop()
    },
  }
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

/** What a page comes to say; a machine under load may take its time. */
export const eventually = (look: () => Promise<unknown>) => expect.poll(look, { timeout: 15_000, interval: 50 })

export type Line = { base: string; cut(): void; restore(): void; close(): Promise<void> }

/** A wire between browser and service that can be cut. */
export async function makeLine(target: () => string): Promise<Line> {
  const open = new Set<Socket>()
  let whole = true
  const server = createServer((from) => {
    if (!whole) return void from.destroy()
    const { hostname, port } = new URL(target())
    const to = connect(Number(port), hostname)
    for (const [one, other] of [[from, to] as const, [to, from] as const]) {
      open.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    whole = false
    for (const socket of open) socket.destroy()
  }
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore: () => {
      whole = true
    },
    close: () => {
      cut()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
