import type { Request } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventually, navigateTo, noBrowser, useSite } from '#test/harness/site'

const ITEMS = 20_000

describe.skipIf(noBrowser)('large data', () => {
  const site = useSite()

  it('an output of 20,000 items is loaded on demand, and scrolls to its end with few lines in the page', async () => {
    const ada = await site().signUp('Ada')
    const definition = {
      nodes: [{ id: 'many', type: 'set', name: 'Many', args: { values: { list: { $ref: 'input.list' } } } }],
      edges: [],
    }
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Many', definition })
    const input = { list: Array.from({ length: ITEMS }, (_, index) => `item ${index}`) }
    const { execution_id } = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run`, { input })
    const { page } = ada
    await page.goto(`/runs/${execution_id}?node=many`)
    await page.getByRole('button', { name: 'Show' }).click()
    const output = page.getByRole('region', { name: 'Output of Many' })
    await eventually(() => output.textContent()).toContain('20,000 items')
    await output.getByRole('button', { name: 'Expand list' }).click()
    await eventually(() => output.textContent()).toContain('"item 5"')
    expect(await output.locator('> div').count()).toBeLessThan(150)
    await output.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await eventually(() => output.textContent()).toContain(`"item ${ITEMS - 1}"`)
    expect(await output.locator('> div').count()).toBeLessThan(150)
  })

  it('a list of more than a hundred rows keeps only the visible rows in the page', async () => {
    const ada = await site().signUp('Ada')
    const names = Array.from({ length: 130 }, (_, number) => `Workflow ${String(number).padStart(3, '0')}`)
    const make = (name: string) => site().call(ada, 'POST', '/api/workflows', { name })
    for (let at = 0; at < names.length; at += 10) await Promise.all(names.slice(at, at + 10).map(make))
    const { page } = ada
    await page.goto('/workflows')
    const table = page.getByRole('table', { name: 'Workflows' })
    await table.waitFor()
    await eventually(() => table.getAttribute('aria-rowcount').then(Number)).toBeGreaterThanOrEqual(130)
    expect(await table.getByRole('row').count()).toBeLessThan(80)
    const scrolled = async () => {
      await table.evaluate((element) => element.parentElement!.scrollTo(0, element.parentElement!.scrollHeight))
      return table.textContent()
    }
    await eventually(scrolled).toContain('Workflow 000')
    expect(await table.getByRole('row').count()).toBeLessThan(80)
  })

  it('a long document says which part of it is shown, and loads the rest on demand', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { knowledge_id } = await site().call(ada, 'POST', '/api/knowledge', { name: 'House rules' })
    const lines = Array.from({ length: 8_000 }, (_, index) => `Rule 😀 ${String(index).padStart(4, '0')}.`)
    const path = `/api/knowledge/${knowledge_id}/documents`
    const { document_id } = await site().call(ada, 'POST', path, { name: 'All rules', text: lines.join('\n') })
    const total = [...lines.join('\n')].length.toLocaleString('en')
    const at = `/knowledge/${knowledge_id}/documents/${document_id}`
    await page.goto(at)
    await page.getByText(`Characters 1 to 20,000 of ${total} are shown.`).first().waitFor()
    expect(await page.getByText('Rule 😀 7999.').count()).toBe(0)
    const more = page.getByRole('button', { name: 'Show more' })
    await more.click()
    await page.getByText(`Characters 1 to 70,000 of ${total} are shown.`).first().waitFor()
    await more.click()
    await more.waitFor({ state: 'detached' })
    await page.getByText('Rule 😀 7999.').waitFor()
    expect(await page.getByText('are shown.').count()).toBe(0)

    // A link to a passage opens the document in its middle.
    const line = [...lines.slice(0, 5_000).join('\n')].length + 1
    await page.goto(`${at}?from=${line}&to=${line + 12}`)
    const marked = page.locator('mark')
    await marked.waitFor()
    expect(await marked.textContent()).toBe('Rule 😀 5000.')
    expect(await page.getByText('Rule 😀 0000.').count()).toBe(0)
    const top = (): Promise<number> => marked.evaluate((element) => element.getBoundingClientRect().top)
    await page.evaluate(() => scrollTo(0, 0))
    const [read, height] = [await top(), await page.evaluate(() => document.body.scrollHeight)]
    await page.getByRole('button', { name: 'Show earlier text' }).click()
    await page.getByText('Rule 😀 0000.').waitFor()
    // What was shown stays where it was, although the page is longer now.
    expect(await page.evaluate(() => document.body.scrollHeight)).toBeGreaterThan(height)
    await eventually(async () => Math.abs((await top()) - read)).toBeLessThan(200)
    expect(await marked.textContent()).toBe('Rule 😀 5000.')
    await page.getByRole('button', { name: 'Show earlier text' }).waitFor({ state: 'detached' })
  })

  it('a field that selects a workflow offers all of several hundred', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const definition = { nodes: [{ id: 'a', type: 'set', args: { values: {} } }], edges: [] }
    const make = (name: string) => site().call(ada, 'POST', '/api/workflows', { name, definition })
    // The oldest workflow is on the last page of the list.
    const { workflow_id } = await make('The oldest')
    const checks = [{ kind: 'cel', expression: 'true' }]
    await site().call(ada, 'POST', `/api/workflows/${workflow_id}/suites`, { name: 'Old suite', checks })
    const names = Array.from({ length: 210 }, (_, number) => `Workflow ${number}`)
    for (let at = 0; at < names.length; at += 10) await Promise.all(names.slice(at, at + 10).map(make))

    await page.goto('/budgets')
    await page.getByRole('button', { name: 'New budget' }).first().click()
    await page.getByRole('dialog').getByLabel('For', { exact: true }).selectOption('The oldest')
    await page.keyboard.press('Escape')
    await navigateTo(page, '/alerts')
    await page.getByRole('button', { name: 'New alert rule' }).first().click()
    await page.getByRole('dialog').getByLabel('Watched').selectOption('The oldest')
    await page.keyboard.press('Escape')
    await navigateTo(page, '/runs')
    await page.getByLabel('Workflow', { exact: true }).selectOption('The oldest')
    await navigateTo(page, '/jobs/new')
    await page.getByLabel('Workflow', { exact: true }).selectOption('The oldest')
    // A link to the new suite of a workflow selects this workflow, not the first of the list.
    await navigateTo(page, `/suites/new?workflow_id=${workflow_id}`)
    await page.getByRole('heading', { name: 'Checks' }).waitFor()
    expect(await page.getByLabel('Workflow', { exact: true }).inputValue()).toBe(workflow_id)
    // One request for all suites, however many workflows there are.
    const asked: string[] = []
    const note = (request: Request) => asked.push(new URL(request.url()).pathname)
    page.on('request', note)
    await navigateTo(page, '/suites')
    await page.getByRole('link', { name: 'Old suite' }).waitFor()
    await page.getByRole('cell', { name: 'The oldest' }).waitFor()
    page.off('request', note)
    expect(asked.filter((path) => path.endsWith('/suites') && path.startsWith('/api'))).toEqual(['/api/suites'])
  })
})
