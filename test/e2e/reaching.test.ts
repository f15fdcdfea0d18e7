import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import * as telegram from '#test/fakes/channels/telegram'
import { piecemeal } from '#test/fakes/llm/answers'
import { FAKE_KEY, startFakeLlm } from '#test/fakes/llm/server'
import { checkPages } from '#test/harness/axe'
import { noBrowser, useSite, type Visitor } from '#test/harness/site'
import { until } from '#test/harness/until'
import { SITE, visit } from '#test/harness/widget'

// People who are asked in a chat, assistants whose answers appear while they are written, and an inbox with live
// updates.

const vendor = await telegram.startTelegram()
const model = await startFakeLlm()

describe.skipIf(noBrowser)('people and assistants', () => {
  const site = useSite({
    env: {
      TELEGRAM_API_BASE: vendor.base,
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'fake-model',
      LLM_MODELS: '*',
      LLM_API_KEY: FAKE_KEY,
      LLM_BASE_URL: model.baseUrl,
    },
  })
  beforeAll(() => model.reset())
  afterAll(() => Promise.all([vendor.close(), model.close()]))

  it('an account in a chat is linked, receives an approval, and is unlinked', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const call = (method: string, path: string, body?: unknown) => site().call(ada, method, path, body)
    const { template_id } = await call('POST', '/api/templates', { name: 'Support' })
    const { config_id } = await call('POST', '/api/gateway/channels', {
      channel: 'telegram',
      template_id,
      external_id: 'heddle_bot',
      credentials: { bot_token: telegram.TELEGRAM_TOKEN, secret_token: telegram.TELEGRAM_SECRET },
    })
    const write = (text: string) => {
      const { raw, headers } = telegram.fromTelegram(telegram.telegramMessage(text))
      return site().service.call('POST', `/gateway/telegram/${config_id}`, { raw, headers })
    }
    await page.goto('/account/notifications')
    await page.getByRole('button', { name: 'Link Telegram' }).click()
    const text = await page.getByRole('dialog').getByTestId('copy-text').textContent()
    expect((await write(text!)).status).toBe(200)
    const accounts = page.getByRole('table', { name: 'Chat apps' })
    await accounts.getByText('Telegram').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await checkPages(ada, [['/account/notifications', 'Chat apps']])

    const { user } = await call('GET', '/auth/me')
    const approval = {
      title: 'Pay this?',
      payload: { amount: 5 },
      policy: { approvers: [{ kind: 'user', id: user.user_id }], allow_self: true },
    }
    const definition = { nodes: [{ id: 'ask', type: 'approval', args: approval }], edges: [] }
    const { workflow_id } = await call('POST', '/api/workflows', { name: 'Pays', definition })
    const { execution_id } = await call('POST', `/api/workflows/${workflow_id}/run`, {})
    await page.goto(`/runs/${execution_id}`)
    const sent = await until(async () => vendor.sent.find(({ buttons }) => buttons !== undefined), 'the message')
    const pressed = telegram.fromTelegram(telegram.telegramPress(sent.buttons!.Approve!, 77))
    await site().service.call('POST', `/gateway/telegram/${config_id}`, pressed)
    await page.getByText('Succeeded').first().waitFor()

    await page.goto('/account/notifications')
    await page.getByRole('button', { name: /^Unlink / }).click()
    await page.getByRole('button', { name: 'Unlink chat' }).click()
    await page.getByRole('button', { name: 'Link Telegram' }).waitFor()
  })

  it('the answer of an assistant is shown while it is written', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { template_id } = await site().call(ada, 'POST', '/api/templates', { name: 'Support', mode: 'agent' })
    const { thread_id } = await site().call(ada, 'POST', '/api/chat-thread', { title: 'Opening', template_id })
    const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
    model.script(piecemeal(['We open ', 'at nine.'], (index) => gates[index]!.promise))
    await page.goto(`/threads/${thread_id}`)
    await page.getByRole('textbox', { name: 'Message' }).fill('When do you open?')
    await page.keyboard.press('Enter')
    gates[0]!.resolve()
    await page.getByText('We open', { exact: true }).waitFor()
    gates[1]!.resolve()
    await page.getByText('We open at nine.', { exact: true }).waitFor()
    const messages = page.getByRole('list', { name: 'Messages' })
    expect(await messages.getByText('We open at nine.').count()).toBe(0)
    gates[2]!.resolve()
    await messages.getByText('We open at nine.').waitFor()
    await page.getByText('We open at nine.').nth(1).waitFor({ state: 'detached' })
  })

  it('a visitor is greeted in their language and sees the answer in the widget while it is written', async () => {
    const ada = await site().signUp('Ada')
    let html = ''
    const shop = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(html),
    )
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
    const origin = `http://localhost:${(shop.address() as AddressInfo).port}`
    const body = { name: 'Shop', mode: 'agent', allowed_origins: [origin] }
    const { template_id } = await site().call(ada, 'POST', '/api/templates', body)
    const { token } = await site().call(ada, 'POST', `/api/templates/${template_id}/embed-tokens`, { name: 'shop' })
    const { base } = site().service
    html = `<!doctype html><html lang="de"><head><title>Laden</title></head><body><heddle-chat template="${template_id}" token="${token}" base="${base}"></heddle-chat><script src="${base}/widget/v1.js"></script></body></html>`
    const context = await site().browser.newContext({ locale: 'de-CH' })
    onTestFinished(async () => {
      await context.close()
      shop.close()
    })
    const page = await context.newPage()
    await page.goto(origin)
    const log = page.getByRole('log')
    await log.getByText('Guten Tag! Wie kann ich Ihnen helfen?').waitFor()
    const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
    model.script(piecemeal(['Wir öffnen ', 'um neun.'], (index) => gates[index]!.promise))
    await page.getByRole('textbox', { name: 'Ihre Nachricht' }).fill('Wann öffnen Sie?')
    await page.keyboard.press('Enter')
    gates[0]!.resolve()
    await log.getByText('Wir öffnen', { exact: true }).waitFor()
    gates[1]!.resolve()
    await log.getByText('Wir öffnen um neun.', { exact: true }).waitFor()
    gates[2]!.resolve()
    // Screen readers skip the draft. The final answer replaces the draft and is shown once.
    await log.locator('.message.assistant:not([aria-hidden])', { hasText: 'um neun' }).waitFor()
    await log.locator('[aria-hidden]').waitFor({ state: 'detached' })
    expect(await log.getByText('Wir öffnen um neun.').count()).toBe(1)
  })

  it('the inbox shows a message when the socket announces it, without polling', async () => {
    const ada = await site().signUp('Ada')
    const { page, close } = await withStoppableClock(ada)
    const { template_id } = await site().call(ada, 'POST', '/api/templates', { name: 'Shop', allowed_origins: [SITE] })
    const { token } = await site().call(ada, 'POST', `/api/templates/${template_id}/embed-tokens`, { name: 'shop' })
    const visitor = await visit(site().service, template_id, token)
    const { body } = await visitor.chat('Hello')
    await page.goto(`/conversations/${body.thread_id}`)
    const messages = page.getByRole('list', { name: 'Messages' })
    await messages.getByText('Hello', { exact: true }).waitFor()
    const told = () => page.evaluate(() => (globalThis as { told?: number }).told ?? 0)
    await until(async () => (await told()) > 0, 'the socket')
    // The clock pauses in the future, because it still runs during the call.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 300_000)
    for (const text of ['Are you there?', 'It is about my parcel']) {
      const before = await told()
      await visitor.chat(text, body.thread_id)
      await until(async () => (await told()) > before, 'the page to be updated')
      // `until` advances the clock of the page by twelve seconds at most; the page polls only after sixty.
      await until(async () => {
        await page.clock.runFor(20)
        return messages.getByText(text).isVisible()
      }, `"${text}"`)
    }
    await close()
  })

  /** Opens a window whose clock the test can stop. `told` counts the messages of the conversations socket. */
  async function withStoppableClock({ context }: Visitor) {
    const own = await site().browser.newContext({
      baseURL: site().service.base,
      storageState: await context.storageState(),
    })
    await own.clock.install()
    await own.addInitScript(() => {
      const page = globalThis as { told?: number }
      globalThis.WebSocket = class extends WebSocket {
        constructor(...given: ConstructorParameters<typeof WebSocket>) {
          super(...given)
          if (String(given[0]).endsWith('/ws/conversations'))
            this.addEventListener('message', () => {
              page.told = (page.told ?? 0) + 1
            })
        }
      }
    })
    return { page: await own.newPage(), close: () => own.close() }
  }
})
