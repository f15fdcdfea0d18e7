import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { fromWire } from '#platform/ids'
import { checkPage } from '#test/harness/axe'
import { eventually, noBrowser, useSite } from '#test/harness/site'

// The tools of an agent: the user chooses them, limits their arguments, and requires approval for their calls.

const inspector = (page: Page): Locator => page.getByRole('region', { name: 'Inspector' })

describe.skipIf(noBrowser)('the tools of an agent', () => {
  const site = useSite()

  it('are workflows, knowledge bases and nodes, with fixed or limited arguments and approval', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const inputs = { type: 'object', properties: { source: { type: 'string' }, order: { type: 'integer' } } }
    const set = { id: 'set', type: 'set', args: { values: {} } }
    const tool = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Look up an order',
      definition: { inputs, nodes: [set], edges: [] },
    })
    const agent = { id: 'agent', type: 'agent.run', args: { goal: 'Find out', tools: [] } }
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Agent',
      definition: { nodes: [agent], edges: [] },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="agent"]').click()
    const add = inspector(page).getByLabel('Add a tool')
    await add.selectOption({ label: 'A workflow' })
    const workflow = inspector(page).locator('[data-tool="Workflow"]')
    await workflow.getByLabel('Which workflow').selectOption({ label: 'Look up an order' })
    await workflow.getByLabel('Who chooses Source').selectOption({ label: 'Always this value' })
    await workflow.getByRole('textbox', { name: 'Source' }).fill('agent')
    await workflow.getByRole('checkbox', { name: 'Ask for approval of each call' }).click()
    await workflow.getByText('Approvers').first().waitFor()
    await add.selectOption('http.request')
    await add.selectOption('notify')
    const notify = inspector(page).locator('[data-tool]').last()
    await notify.getByLabel('Who chooses Title').selectOption({ label: 'One of these values' })
    await notify.getByRole('textbox').first().fill('Hello')
    await checkPage(page)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    await eventually(async () => {
      const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/versions`)
      return items.length
    }).toBe(2)
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/versions`)
    const saved = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/versions/${items[0].version_id}`)
    expect(saved.definition.nodes[0].args.tools).toEqual([
      {
        workflow_id: tool.workflow_id,
        arguments: { fixed: { source: 'agent' } },
        approval: { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any' },
      },
      'http.request',
      { type: 'notify', arguments: { allowed: { title: ['Hello'] } } },
    ])
  })

  it('are cited: a source opens its document at the passage', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const base = await site().call(ada, 'POST', '/api/knowledge', { name: 'Parcels', language: 'english' })
    const path = `/api/knowledge/${base.knowledge_id}/documents`
    const text = 'Returns are free. Parcels arrive within three days.'
    const document = await site().call(ada, 'POST', path, { name: 'Delivery', text })
    await eventually(
      async () => (await site().call(ada, 'GET', `${path}/${document.document_id}`)).status as string,
    ).toBe('ready')
    const thread = await site().call(ada, 'POST', '/api/chat-thread', { title: 'Parcels' })
    const said = await site().call(ada, 'POST', `/api/chat-thread/${thread.thread_id}/messages`, { text: 'Hello' })
    // The same citation as an assistant with a language model would write.
    const citation = {
      n: 1,
      knowledge_id: fromWire('kb', base.knowledge_id),
      document_id: fromWire('doc', document.document_id),
      title: 'Delivery',
      url: null,
      heading: [],
      from: 18,
      to: 51,
    }
    await site().service.sql('update messages set citations = $2 where message_id = $1', [
      fromWire('msg', said.message_id),
      JSON.stringify([citation]),
    ])
    await page.goto(`/threads/${thread.thread_id}`)
    await page.getByRole('list', { name: 'Sources' }).getByRole('link', { name: 'Delivery' }).click()
    await eventually(() => page.locator('mark').textContent()).toBe('Parcels arrive within three days.')
  })

  it('a node that runs a workflow shows the fields of its input, and which required fields are missing', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await site().call(ada, 'POST', '/api/workflows', {
      name: 'Ship an order',
      definition: {
        inputs: {
          type: 'object',
          properties: { order: { type: 'integer' }, note: { type: 'string' } },
          required: ['order'],
        },
        nodes: [{ id: 'set', type: 'set', args: { values: {} } }],
        edges: [],
      },
    })
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Caller' })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-canvas]').press('/')
    await page.getByRole('combobox', { name: 'Find a node' }).fill('run a workflow')
    await page.getByRole('option', { name: /^Run a workflow/ }).click()
    await inspector(page).getByText('Must not be empty').waitFor()
    await inspector(page)
      .getByRole('combobox', { name: 'Workflow', exact: true })
      .selectOption({ label: 'Ship an order' })
    await inspector(page).getByText('The workflow requires order').waitFor()
    await inspector(page).getByRole('textbox', { name: 'Order', exact: true }).fill('7')
    await inspector(page).getByText('The workflow requires order').waitFor({ state: 'detached' })
    await inspector(page).getByRole('button', { name: 'Note' }).waitFor()
    await page.getByRole('button', { name: 'No problems' }).waitFor()
  })
})
