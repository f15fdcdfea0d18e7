import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { eventually, navigateTo, noBrowser, useSite, writeCode } from '#test/harness/site'

const definition = {
  inputs: { type: 'object', properties: { name: { type: 'string' } } },
  nodes: [
    { id: 'greet', type: 'set', name: 'Greet', args: { values: { text: { $cel: '"Hello " + input.name' } } } },
    {
      id: 'each',
      type: 'map',
      name: 'Each',
      args: {
        items: [1, 2],
        body: {
          nodes: [{ id: 'line', type: 'set', args: { values: { n: { $cel: 'item * 10' } } } }],
          edges: [],
          output: { $ref: 'nodes.line.output' },
        },
      },
    },
  ],
  edges: [{ from: { node: 'greet' }, to: 'each' }],
}

describe.skipIf(noBrowser)('finding and debugging', () => {
  const site = useSite()

  it('Ctrl K finds a workflow; its run shows the input of steps, offers a receipt and opens in the editor', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Salutation', definition })
    const { execution_id } = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run?wait_s=60`, {
      input: { name: 'Ada' },
    })
    await page.goto('/')
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.keyboard.press('Control+k')
    const find = page.getByRole('combobox', { name: 'Find anything' })
    await find.fill('Airta')
    await page.getByRole('option', { name: 'Airtable' }).waitFor()
    await find.fill(execution_id)
    await page.getByRole('option', { name: execution_id }).waitFor()
    await find.fill('Saluta')
    await page.getByRole('option', { name: 'Salutation' }).waitFor()
    await checkPage(page)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Salutation' }).waitFor()

    await navigateTo(page, `/runs/${execution_id}?node=greet`)
    const step = page.getByRole('complementary', { name: 'Selected step' })
    await step.getByRole('region', { name: 'Resolved input' }).getByText('Hello Ada').waitFor()
    await navigateTo(page, `/runs/${execution_id}?node=each`)
    await step.getByRole('region', { name: 'Items' }).getByRole('button').nth(1).click()
    await step.getByRole('region', { name: 'Items' }).getByText('20').first().waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Receipt' }).click()
    expect((await download).suggestedFilename()).toBe(`receipt-${execution_id}.json`)

    await page.getByRole('button', { name: 'Debug in editor' }).click()
    // The run page draws the same nodes, so the node must be the one on the editor's canvas.
    await page.getByRole('application', { name: 'Canvas' }).locator('[data-node="greet"]').click()
    const inspector = page.getByRole('region', { name: 'Inspector' })
    await inspector.getByRole('tab', { name: 'Data' }).click()
    await inspector.getByRole('button', { name: 'Unpin output' }).waitFor()

    // The search lists recent pages first the next time.
    await page.keyboard.press('Control+k')
    await page
      .getByRole('option', { name: /Salutation/ })
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
  })

  it('a step uses an output written by hand, and its result is compared with the previous run', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Mocked',
      definition: { nodes: [{ id: 'a', type: 'set', name: 'A', args: { values: { n: 1 } } }], edges: [] },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="a"]').click()
    const inspector = page.getByRole('region', { name: 'Inspector' })
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await inspector.getByRole('button', { name: 'Run this step' }).click()
    await run.getByText('Succeeded').waitFor()
    await inspector.getByRole('tab', { name: 'Data' }).click()
    await inspector.getByRole('button', { name: 'Mock output' }).click()
    await writeCode(inspector.getByLabel('Mocked output').getByRole('textbox'), '{"n": 2}')
    await inspector.getByRole('button', { name: 'Done' }).click()
    const first = await run.getAttribute('data-execution')
    await inspector.getByRole('button', { name: 'Run to here' }).click()
    await eventually(async () => (await run.getAttribute('data-execution')) !== first).toBe(true)
    const compared = inspector.getByRole('region', { name: 'Compared with the run before' })
    await compared.getByText('− 1').waitFor()
    await compared.getByText('+ 2').waitFor()
  })

  it('Ctrl S saves after a value is picked', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Picked',
      definition: {
        inputs: { type: 'object', properties: { name: { type: 'string' } } },
        nodes: [{ id: 'a', type: 'set', name: 'A', args: { values: { n: { $ref: 'input' } } } }],
        edges: [],
      },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="a"]').click()
    const inspector = page.getByRole('region', { name: 'Inspector' })
    await inspector.getByRole('button', { name: 'Pick', exact: true }).click()
    await page.getByRole('treeitem', { name: 'input.name' }).click()
    await eventually(() => inspector.getByLabel('n, from data').inputValue()).toBe('input.name')
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).waitFor()
  })

  it('Ctrl S saves in every dialog, and never opens the dialog of the browser', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Saved',
      definition: {
        inputs: { type: 'object', properties: { name: { type: 'string', title: 'Name' } } },
        nodes: [{ id: 'a', type: 'set', name: 'A', args: { values: { n: { $ref: 'input' } } } }],
        edges: [],
      },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="a"]').click()
    const save = page.getByRole('dialog', { name: 'Save as a version' })
    const away = async (): Promise<void> => {
      await save.getByRole('button', { name: 'Cancel' }).click()
      await save.waitFor({ state: 'detached' })
    }

    // Open pickers close, and the version can be saved.
    const inspector = page.getByRole('region', { name: 'Inspector' })
    await inspector.getByRole('button', { name: 'Pick', exact: true }).click()
    const pick = page.getByRole('dialog', { name: 'Pick data' })
    await pick.getByRole('combobox').press('Control+s')
    await save.waitFor()
    await pick.waitFor({ state: 'detached' })
    await away()
    await page.locator('[data-canvas]').focus()
    await page.keyboard.press('/')
    const find = page.getByRole('combobox', { name: 'Find a node' })
    await find.press('Control+s')
    await save.waitFor()
    await find.waitFor({ state: 'detached' })
    await away()

    // The typed input of a run is kept; a second Ctrl S submits the form.
    await page.locator('[data-canvas]').focus()
    await page.keyboard.press('Control+Enter')
    const run = page.getByRole('dialog', { name: 'Run with this input' })
    const name = run.getByLabel('Name')
    await name.fill('Bern')
    await name.press('Control+s')
    await save.getByLabel('What changed').fill('from the run')
    await save.getByLabel('What changed').press('Control+s')
    await save.waitFor({ state: 'detached' })
    expect(await name.inputValue()).toBe('Bern')
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/versions`)
    expect(items.map(({ note }: { note: string | null }) => note)).toEqual(['from the run', null])
    await run.getByRole('button', { name: 'Close' }).click()
    await run.waitFor({ state: 'detached' })

    // In a dialog of the console, which is not part of the editor, Ctrl S does nothing.
    await page.evaluate(() => {
      addEventListener('keydown', (event) => {
        if (event.key === 's') document.body.dataset.refused = String(event.defaultPrevented)
      })
    })
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').press('Control+s')
    await eventually(() => page.evaluate(() => document.body.dataset.refused)).toBe('true')
    expect(await save.count()).toBe(0)
  })

  it('a failed trial names the step that failed, which can be selected, also from inside a loop', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const inside = { nodes: [{ id: 'one', type: 'set', name: 'One', args: { values: {} } }], edges: [] }
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Failing',
      definition: {
        nodes: [
          { id: 'each', type: 'map', name: 'Each', args: { items: [1], body: inside } },
          { id: 'stop', type: 'fail', name: 'Stop here', args: { message: 'No stock' } },
        ],
        edges: [{ from: { node: 'each' }, to: 'stop' }],
      },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-canvas]').press('Control+Enter')
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByText('No stock').waitFor()
    await page.locator('[data-node="each"]').click()
    await page.keyboard.press('o')
    await page.locator('[data-node="one"]').waitFor()
    await run.getByRole('button', { name: 'Stop here' }).click()
    await eventually(() => page.getByLabel('Node name').inputValue()).toBe('Stop here')
    await run.getByRole('link', { name: 'Open the run' }).click()
    await page.getByText('A trial of a draft').waitFor()
  })
})
