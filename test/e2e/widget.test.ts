import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { severeFindings } from '#test/harness/axe'
import { chromiumPath, launchChromium } from '#test/harness/chromium'
import { type Service, startService } from '#test/harness/service'
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
  browser = await launchChromium(executable)
}, 120_000)
afterAll(async () => {
  await browser?.close()
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

async function openPage(): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(origin)
  return page
}

describe.skipIf(!executable)('the widget on another site', () => {
  test('a chat by template: a form, a question of the execution, its result, and the history after a reload', async () => {
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
    expect(await severeFindings(page)).toEqual([])
    await page.reload()
    await page.getByRole('button', { name: /Open the chat/ }).click()
    await page.getByRole('log').getByText('Hello Ada, here is your green card').waitFor()
    await page.close()
  }, 60_000)

  test('one workflow, guided: the inputs are gathered in conversation, then its question is a form', async () => {
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
  }, 60_000)

  test('a page whose origin is not listed is told so', async () => {
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
  }, 60_000)
})

test('the script is at most 25 kB compressed', async () => {
  const { gzipSync } = await import('node:zlib')
  const { bundleWidget } = await import('#areas/widget/routes')
  expect(gzipSync(await bundleWidget()).length).toBeLessThanOrEqual(25_000)
})
