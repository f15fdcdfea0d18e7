import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { SESSION_COOKIE } from '#platform/auth/identify'
import { hashPassword } from '#platform/auth/passwords'
import { fromWire, hashSecret, newId, newSecret } from '#platform/ids'
import { makeLogger } from '#platform/log'
import { buildConsole } from '#server/console'
import { freshEmail, PASSWORD } from './browser.ts'
import { chromiumPath, launchChromium } from './chromium.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'
import { makeWindows, type Window } from './windows.ts'
import { addMember, makePerson, makeWorkspace, type TestPerson } from './world.ts'

// The service with its console, and people who use it in a real browser.

const path = chromiumPath()
let passwordHash: Promise<string> | undefined

/** For `describe.skipIf(noBrowser)`. */
export const noBrowser = path === undefined

export type Visitor = Window & { base: string; email: string }

export type VisitOptions = { base?: string; fresh?: boolean }

export type Site = {
  service: Service
  browser: Browser
  /** Opens a separate browser window in which no person is signed in. `fresh`: with empty caches, too. */
  visit(options?: VisitOptions): Promise<Visitor>
  /** Creates a person with a new account and workspace. */
  signUp(name: string, options?: VisitOptions): Promise<Visitor>
  /** Creates a colleague in the workspace that `owner` has selected. */
  invite(owner: Visitor, name: string, role?: 'owner' | 'member' | 'viewer'): Promise<Visitor>
  /** Calls the service as this person, in their session. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  call(visitor: Visitor, method: string, path: string, body?: unknown): Promise<any>
}

type OpenSite = Site & { checkAnswers(): void }

/**
 * Sites by their options. Test files that run one after another in a process share them: a service, a browser, and
 * windows that have already compiled the console. Each file creates its own people and workspaces. Sites end with the
 * process.
 */
const sites = new Map<string, Promise<OpenSite>>()
let browser: Promise<Browser> | undefined

/** The browser of this process. */
export const sharedBrowser = (): Promise<Browser> => (browser ??= launchChromium(path!))

/** Starts the whole service with its console, and a browser. */
export function useSite(options: ServiceOptions = {}): () => Site {
  const key = JSON.stringify(options)
  let site: OpenSite | undefined
  beforeAll(async () => {
    if (!sites.has(key)) sites.set(key, openSite(options))
    site = await sites.get(key)!
  })
  afterAll(() => site?.checkAnswers())
  return () => site!
}

async function openSite(options: ServiceOptions): Promise<OpenSite> {
  const pages = await buildConsole(makeLogger('error'))
  if (pages === undefined) throw new Error('the console could not be built')
  const service = await startService({ ...options, pages })
  const browser = await sharedBrowser()

  const windows = makeWindows(browser)
  const visit: Site['visit'] = async (options = {}) => {
    const window = await windows.open(options.base ?? service.base, options)
    return { ...window, base: options.base ?? service.base, email: freshEmail() }
  }

  const call: Site['call'] = async ({ context }, method, address, body) => {
    const answer = await context.request.fetch(address, { method, ...(body !== undefined && { data: body }) })
    if (!answer.ok()) throw new Error(`${method} ${address}: ${answer.status()} ${await answer.text()}`)
    return answer.status() === 204 ? undefined : answer.json()
  }

  /**
   * Creates the session directly in the tables: other journeys test signing up and in, and hashing a password is slow
   * on purpose.
   */
  const enter = async (visitor: Visitor, person: TestPerson, workspace: { uuid: string }): Promise<Visitor> => {
    const token = newSecret('ses')
    passwordHash ??= hashPassword(PASSWORD)
    await service.sql('update users set password_hash = $2 where user_id = $1', [person.uuid, await passwordHash])
    await service.sql('delete from api_keys where user_id = $1', [person.uuid])
    await service.sql(
      `insert into sessions (session_id, user_id, token_hash, selected_workspace_id, address, expires_at)
       values ($1, $2, $3, $4, '127.0.0.1', now() + interval '1 day')`,
      [newId(), person.uuid, hashSecret(token), workspace.uuid],
    )
    const url = visitor.base
    await visitor.context.addCookies([{ name: SESSION_COOKIE, value: token, url, httpOnly: true, sameSite: 'Lax' }])
    return visitor
  }

  const signUp: Site['signUp'] = async (name, options) => {
    const visitor = await visit(options)
    const person = await makePerson(service, { name, email: visitor.email })
    return enter(visitor, person, await makeWorkspace(service, person, `${name}'s place`))
  }

  const invite: Site['invite'] = async (owner, name, role = 'member') => {
    const { selected_workspace_id } = await call(owner, 'GET', '/auth/me')
    const workspace = { uuid: fromWire('ws', selected_workspace_id)! }
    const visitor = await visit()
    const person = await makePerson(service, { name, email: visitor.email })
    await addMember(service, workspace, person, role)
    return enter(visitor, person, workspace)
  }

  return {
    service,
    browser,
    visit,
    signUp,
    invite,
    call,
    checkAnswers: service.checkAnswers,
  }
}

/** Opens another page as the links of the console do, so that no script is loaded or compiled again. */
export async function navigateTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => (self as unknown as Routed).__TSR_ROUTER__.history.push(to), path)
  await page.waitForFunction(() => {
    const { state, history } = (self as unknown as Routed).__TSR_ROUTER__
    return state.status === 'idle' && state.resolvedLocation?.href === history.location.href
  })
}
type Routed = {
  __TSR_ROUTER__: {
    state: { status: string; resolvedLocation?: { href: string } }
    history: { push(path: string): void; location: { href: string } }
  }
}

/**
 * Replaces the text of a code editor as a person does. `fill` selects the text and types in two steps, between which
 * the editor may restore its own selection.
 */
export async function writeCode(field: Locator, text: string): Promise<void> {
  await field.press('ControlOrMeta+a')
  if (text === '') await field.press('Delete')
  else await field.page().keyboard.insertText(text)
}

/** Polls until a page shows the expected value; a busy machine may need some time. */
export const eventually = (look: () => Promise<unknown>) => expect.poll(look, { interval: 50 })

export type BreakableConnection = { base: string; cut(): void; restore(): void; close(): Promise<void> }

/** Creates a connection between browser and service that can be cut. */
export async function makeBreakableConnection(target: () => string): Promise<BreakableConnection> {
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
