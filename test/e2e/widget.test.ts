import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { severeFindings } from '#test/harness/axe'
import { chromiumPath } from '#test/harness/chromium'
import { type Service, startService } from '#test/harness/service'
import { sharedBrowser } from '#test/harness/site'
import { slow } from '#test/harness/slow'
import { makeWorld, type World } from '#test/harness/world'

// The widget on a page of another origin, in a real browser.

const executable = chromiumPath()
let service: Service
let world: World
let site: Server
let origin: string
let browser: Browser
let html = ''

beforeAll(async () => {
  if (!executable) return
  site = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html))
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  origin = `http://localhost:${(site.address() as AddressInfo).port}`
  service = await startService()
  world = await makeWorld(service)
  browser = await sharedBrowser()
})
afterAll(async () => {
  await service?.stop()
  site?.close()
})

const hello = {
  inputs: {
    type: 'object',
    properties: { name: { type: 'string', title: 'Your name' } },
    required: ['name'],
    additionalProperties: false,
  },
  nodes: [
    {
      id: 'colour',
      type: 'clarification',
      args: { question: 'Which colour do you like?', schema: { type: 'string', enum: ['red', 'green'] } },
    },
    {
      id: 'greet',
      type: 'set',
      args: { values: { text: { $cel: "'Hello ' + input.name + ', here is your ' + nodes.colour.output + ' card'" } } },
    },
  ],
  edges: [{ from: { node: 'colour' }, to: 'greet' }],
  output: { $ref: 'nodes.greet.output.text' },
}

async function makeWorkflow(): Promise<string> {
  return (await world.owner.call('POST', '/api/workflows', { body: { name: 'Greeting card', definition: hello } })).body
    .workflow_id
}

/** Returns the text of a letter, and a file with the text in capitals. */
const reading = {
  inputs: {
    type: 'object',
    properties: { letter: { type: 'object', title: 'Your letter', required: ['$file'] } },
    required: ['letter'],
  },
  nodes: [
    { id: 'read', type: 'file.read', args: { file: { $ref: 'input.letter' } } },
    {
      id: 'copy',
      type: 'file.write',
      args: { name: 'copy.txt', text: { $cel: 'nodes.read.output.content.upperAscii()' } },
    },
  ],
  edges: [{ from: { node: 'read' }, to: 'copy' }],
  output: { said: { $ref: 'nodes.read.output.content' }, copy: { $ref: 'nodes.copy.output' } },
}
const letter = (text: string) => ({ name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from(text) })

/** Clicks the newest link of a file and returns the download. The new tab that the link opens becomes the download. */
async function download(page: Page): Promise<{ name: string; text: string }> {
  const opened = page.context().waitForEvent('page')
  const begun = Promise.any([page.waitForEvent('download'), opened.then((tab) => tab.waitForEvent('download'))])
  await page.getByRole('log').getByRole('link', { name: 'Download' }).last().click()
  const file = await begun
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

async function openPage(): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(origin)
  return page
}

describe.skipIf(!executable)('the widget on another site', () => {
  test('a chat of a template: a form, a question of the execution, its result, and the history after a reload', async () => {
    const workflow = await makeWorkflow()
    const template = (
      await world.owner.call('POST', '/api/templates', {
        body: {
          name: 'Helper <b>bold</b>',
          greeting: 'Hi! <script>document.title="hacked"</script> How can I help?',
          workflow_ids: [workflow],
          allowed_origins: [origin],
        },
      })
    ).body.template_id
    const { token } = (await world.owner.call('POST', `/api/templates/${template}/embed-tokens`, { body: {} })).body
    html = `<!doctype html><html lang="en"><head><title>Shop</title></head><body><main><h1>Shop</h1></main><script src="${service.base}/widget/v1.js" data-template="${template}" data-token="${token}" async></script></body></html>`
    const page = await openPage()
    await page.getByRole('button', { name: /Open the chat/ }).click()
    const log = page.getByRole('log')
    await log.getByText('<script>document.title="hacked"</script>').waitFor()
    expect(await page.title()).toBe('Shop')
    await page.getByLabel('Your message').fill('I would like a greeting card')
    await page.keyboard.press('Enter')
    await page.getByLabel('Your name').fill('Ada')
    await page.getByRole('button', { name: 'Send' }).first().click()
    await log.getByText('Which colour do you like?').waitFor()
    await page.getByLabel('Your message').fill('green')
    await page.keyboard.press('Enter')
    await log.getByText('Hello Ada, here is your green card').waitFor()
    // A colleague writes in the console, and the visitor sees the message without any action.
    const [thread] = (await world.owner.call('GET', '/api/chat-thread?with=outside')).body.items
    const text = 'Anything else? <script>document.title="hacked"</script>'
    await world.owner.call('POST', `/api/chat-thread/${thread.thread_id}/messages`, { body: { text } })
    await log.getByText('A colleague has joined the conversation.').waitFor()
    await log.getByText('A colleague', { exact: true }).waitFor()
    await log.getByText(text).waitFor()
    expect(await page.title()).toBe('Shop')
    // A message from before the visitor's message, sent while the history could not be loaded, is not lost.
    await page.route('**/history?*', (route) => route.abort())
    await world.owner.call('POST', `/api/chat-thread/${thread.thread_id}/messages`, {
      body: { text: 'One more thing' },
    })
    await world.owner.call('POST', `/api/chat-thread/${thread.thread_id}/hand-back`)
    await page.getByLabel('Your message').fill('Hello')
    await page.keyboard.press('Enter')
    await log.getByText('I can help with:').last().waitFor()
    await page.unroute('**/history?*')
    await log.getByText('One more thing').waitFor()
    await log.getByText('The assistant answers again.').waitFor()
    expect(await severeFindings(page)).toEqual([])
    await page.reload()
    await page.getByRole('button', { name: /Open the chat/ }).click()
    await page.getByRole('log').getByText('Hello Ada, here is your green card').waitFor()
    await page.close()
  })

  slow('a guided workflow gathers its inputs in a conversation, then shows its question as a form', async () => {
    const workflow = await makeWorkflow()
    const { token } = (
      await world.owner.call('POST', `/api/workflows/${workflow}/embed-tokens`, { body: { allowed_origins: [origin] } })
    ).body
    html = `<!doctype html><html lang="en"><head><title>Shop</title></head><body><main><h1>Shop</h1><heddle-workflow workflow="${workflow}" token="${token}" base="${service.base}"></heddle-workflow></main><script src="${service.base}/widget/v1.js"></script></body></html>`
    const page = await openPage()
    await page.getByRole('log').getByText('I need').waitFor()
    await page.getByLabel('Your message').fill('name: Bob')
    await page.keyboard.press('Enter')
    await page.getByLabel('Your answer').selectOption('red')
    await page.getByRole('form').getByRole('button', { name: 'Send' }).first().click()
    await page.getByRole('log').getByText('Hello Bob, here is your red card').waitFor()
    expect(await severeFindings(page)).toEqual([])
    await page.close()
  })

  slow('an open question is shown again after a reload, and an unchecked box means no', async () => {
    const definition = {
      inputs: hello.inputs,
      nodes: [
        { id: 'ask', type: 'clarification', args: { question: 'With a ribbon?', schema: { type: 'boolean' } } },
        { id: 'say', type: 'set', args: { values: { text: { $cel: "'Ribbon: ' + string(nodes.ask.output)" } } } },
      ],
      edges: [{ from: { node: 'ask' }, to: 'say' }],
      output: { $ref: 'nodes.say.output.text' },
    }
    const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Wrap it', definition } })
    const workflow = made.body.workflow_id
    const { token } = (
      await world.owner.call('POST', `/api/workflows/${workflow}/embed-tokens`, { body: { allowed_origins: [origin] } })
    ).body
    html = `<!doctype html><html lang="en"><body><heddle-workflow workflow="${workflow}" token="${token}" base="${service.base}"></heddle-workflow><script src="${service.base}/widget/v1.js"></script></body></html>`
    const page = await openPage()
    await page.getByRole('log').getByText('I need').waitFor()
    await page.reload()
    await page.getByRole('log').getByText('I need').waitFor()
    await page.getByLabel('Your message').fill('name: Bob')
    await page.keyboard.press('Enter')
    await page.getByRole('form', { name: 'With a ribbon?' }).getByRole('button', { name: 'Send' }).click()
    await page.getByRole('log').getByText('Ribbon: false').waitFor()
    await page.close()
  })

  slow(
    'values from the conversation are in the form, and every text is shown as plain text and runs nothing',
    async () => {
      const evil = '<img src=x onerror="document.title=`hacked`"><script>document.title="hacked"</script>'
      const definition = {
        inputs: {
          type: 'object',
          properties: {
            order: { type: 'integer', title: `Order ${evil}`, description: `Which ${evil}` },
            reason: { type: 'string', enum: [`late ${evil}`, 'damaged'] },
            at: { type: 'string', format: 'date-time', title: 'Pick-up' },
          },
          required: ['order', 'reason', 'at'],
        },
        nodes: [{ id: 'made', type: 'set', args: { values: {} } }],
        edges: [],
        output: { result: { $ref: 'input.at' }, said: evil },
      }
      const made = await world.owner.call('POST', '/api/workflows', { body: { name: `Refund ${evil}`, definition } })
      const template = (
        await world.owner.call('POST', '/api/templates', {
          body: {
            name: `Shop ${evil}`,
            greeting: `Hi ${evil}`,
            workflow_ids: [made.body.workflow_id],
            allowed_origins: [origin],
          },
        })
      ).body.template_id
      const { token, token_id } = (
        await world.owner.call('POST', `/api/templates/${template}/embed-tokens`, { body: {} })
      ).body
      html = `<!doctype html><html lang="en"><head><title>Shop</title></head><body><heddle-chat template="${template}" token="${token}" base="${service.base}"></heddle-chat><script src="${service.base}/widget/v1.js"></script></body></html>`
      const page = await openPage()
      await page.getByRole('button', { name: 'Refund' }).click()
      const form = page.getByRole('form')
      await form.waitFor()
      await page.getByLabel('Your message').fill('order: 1042')
      await page.keyboard.press('Enter')
      const order = form.getByLabel(/^Order/)
      await expect.poll(() => order.inputValue()).toBe('1042')
      await form.getByLabel('reason').selectOption({ index: 1 })
      await form.getByLabel('Pick-up').fill('2026-11-15T10:30')
      await form.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('log').getByText('result: 2026-11-15T').waitFor()
      expect(await page.title()).toBe('Shop')
      expect(await page.locator('img').count()).toBe(0)
      expect(await severeFindings(page)).toEqual([])

      // The token is revoked during the chat, and the visitor gets a message in their own language.
      await world.owner.call('DELETE', `/api/templates/${template}/embed-tokens/${token_id}`)
      await expect
        .poll(
          async () => {
            await page.getByLabel('Your message').fill('Hello?')
            await page.keyboard.press('Enter')
            return page
              .getByRole('alert')
              .textContent({ timeout: 2000 })
              .catch(() => '')
          },
          { timeout: 15_000 },
        )
        .toBe('This chat is not available any more.')
      await page.close()
    },
  )

  slow('a visitor sends a file in a form and with a message, and downloads the file that the run created', async () => {
    const made = await world.owner.call('POST', '/api/workflows', {
      body: { name: 'Read a letter', definition: reading },
    })
    const workflow = made.body.workflow_id
    const template = (
      await world.owner.call('POST', '/api/templates', {
        body: { name: 'Reader', workflow_ids: [workflow], allowed_origins: [origin] },
      })
    ).body.template_id
    const { token } = (await world.owner.call('POST', `/api/templates/${template}/embed-tokens`, { body: {} })).body
    html = `<!doctype html><html lang="en"><head><title>Shop</title></head><body><main><h1>Shop</h1><heddle-chat template="${template}" token="${token}" base="${service.base}"></heddle-chat></main><script src="${service.base}/widget/v1.js"></script></body></html>`
    const page = await openPage()
    const log = page.getByRole('log')
    await page.getByRole('button', { name: 'Read a letter' }).click()
    const form = page.getByRole('form')
    await form.getByLabel('Your letter').setInputFiles(letter('Dear Ada'))
    await form.getByRole('status').getByText('letter.txt').waitFor()
    await form.getByRole('button', { name: 'Send' }).click()
    await log.getByText('said: Dear Ada').waitFor()
    expect(await download(page)).toEqual({ name: 'copy.txt', text: 'DEAR ADA' })
    expect(await severeFindings(page)).toEqual([])
    await page.close()

    const guided = (
      await world.owner.call('POST', `/api/workflows/${workflow}/embed-tokens`, { body: { allowed_origins: [origin] } })
    ).body
    html = `<!doctype html><html lang="en"><body><heddle-workflow workflow="${workflow}" token="${guided.token}" base="${service.base}"></heddle-workflow><script src="${service.base}/widget/v1.js"></script></body></html>`
    const other = await openPage()
    await other.getByRole('log').getByText('I need').waitFor()
    await other.getByLabel('File to send').setInputFiles(letter('Dear Bob'))
    await other.getByRole('log').getByText('"said": "Dear Bob"').waitFor()
    expect(await download(other)).toEqual({ name: 'copy.txt', text: 'DEAR BOB' })
    await other.close()
  })

  slow('the first message is shown quickly, and Escape returns the focus', async () => {
    const workflow = await makeWorkflow()
    const template = (
      await world.owner.call('POST', '/api/templates', {
        body: { name: 'Helper', workflow_ids: [workflow], allowed_origins: [origin] },
      })
    ).body.template_id
    const { token } = (await world.owner.call('POST', `/api/templates/${template}/embed-tokens`, { body: {} })).body
    html = `<!doctype html><html lang="en"><head><title>Shop</title></head><body><main><h1>Shop</h1></main><script src="${service.base}/widget/v1.js" data-template="${template}" data-token="${token}" async></script></body></html>`
    const times: number[] = []
    for (let visit = 0; visit < 3; visit++) {
      const page = await (await browser.newContext()).newPage()
      const begun = performance.now()
      await page.goto(origin, { waitUntil: 'commit' })
      await page.getByRole('button', { name: /Open the chat/ }).click()
      await page.getByRole('log').getByText('Hello! How can I help you?').waitFor()
      times.push(performance.now() - begun)
      if (visit < 2) {
        await page.close()
        continue
      }
      await page.keyboard.press('Escape')
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.className))
        .toBe('launch')
      await page.keyboard.press('Enter')
      await page.getByLabel('Your message').fill('Hello')
      const sent = performance.now()
      await page.keyboard.press('Enter')
      await page.getByRole('log').getByText('I can help with:').waitFor()
      times.push(performance.now() - sent)
      await page.close()
    }
    const [cold, , warm, answered] = times.map(Math.round)
    console.log(
      `widget: from the address to the first message ${cold} ms (first page of this browser), ${warm} ms later; an answer in ${answered} ms`,
    )
  })

  slow('a page whose origin is not listed shows an error', async () => {
    const workflow = await makeWorkflow()
    const { token } = (
      await world.owner.call('POST', `/api/workflows/${workflow}/embed-tokens`, {
        body: { allowed_origins: ['https://elsewhere.example'] },
      })
    ).body
    html = `<!doctype html><html lang="en"><body><heddle-workflow workflow="${workflow}" token="${token}" base="${service.base}"></heddle-workflow><script src="${service.base}/widget/v1.js"></script></body></html>`
    const page = await openPage()
    await page.getByRole('alert').waitFor()
    await page.close()
  })
})

test('the script is at most 25 kB compressed', async () => {
  const { gzipSync } = await import('node:zlib')
  const { bundleWidget } = await import('#areas/widget/routes')
  const { length } = gzipSync(await bundleWidget())
  console.log(`widget: ${length} bytes compressed`)
  expect(length).toBeLessThanOrEqual(25_000)
})
