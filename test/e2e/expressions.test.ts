import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { eventually, noBrowser, useSite, writeCode } from '#test/harness/site'

const definition = {
  inputs: { type: 'object', properties: { name: { type: 'string' }, total: { type: 'number' } }, required: ['name'] },
  nodes: [
    { id: 'make', type: 'set', name: 'Make', args: { values: { greeting: { $cel: '"Hello"' } } } },
    { id: 'use', type: 'set', name: 'Use', args: { values: { text: { $cel: '' } } } },
  ],
  edges: [{ from: { node: 'make' }, to: 'use' }],
}

describe.skipIf(noBrowser)('expressions', () => {
  const site = useSite()

  it('are completed from known fields before the first run, corrected, and built from rows', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Words' })
    await site().call(ada, 'POST', `/api/workflows/${workflow_id}/versions`, {
      definition: {
        ...definition,
        nodes: [definition.nodes[0], { ...definition.nodes[1], args: { values: { text: { $cel: '1' } } } }],
      },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="use"]').click()
    const inspector = page.getByRole('region', { name: 'Inspector' })
    const text = inspector.getByLabel('text, CEL')

    // The fields of "Set values" are offered although nothing has run.
    await writeCode(text, '')
    await text.pressSequentially('nodes.make.output.gr')
    await page.getByRole('option', { name: /greeting/ }).click()
    await eventually(() => text.textContent()).toBe('nodes.make.output.greeting')

    // While the user types arguments, the signature of the function highlights the current argument.
    await writeCode(text, '')
    await text.pressSequentially('input.name.substring(1, ')
    const signature = inspector.locator('.code-signature')
    await eventually(() => signature.textContent()).toContain('text.substring(start, end?)')
    await eventually(() => signature.locator('b').textContent()).toBe('end?')
    await page.locator('[data-canvas]').focus()
    await signature.waitFor({ state: 'detached' })

    await writeCode(text, 'nodes.mkae.output.greeting')
    await inspector.getByText('there is no node "mkae"; did you mean "make"?').first().waitFor()
    await writeCode(text, 'input.nmae')
    await inspector.getByText('The input declares no field "nmae"; did you mean "name"?').first().waitFor()
    await writeCode(text, 'input.name')
    await page.getByRole('button', { name: 'No problems' }).waitFor()

    // Builds a condition from rows.
    await page.locator('[data-canvas]').press('Escape')
    await page.locator('.react-flow__edge').first().dispatchEvent('click')
    await inspector.getByRole('button', { name: 'Add a condition' }).click()
    await inspector.getByText('Always true.').waitFor()
    await inspector.getByRole('button', { name: 'Add a condition row' }).click()
    await page.getByRole('treeitem', { name: 'input.total' }).click()
    await inspector.getByLabel('Operator for input.total').selectOption('is more than')
    await inspector.getByLabel('Value for input.total').fill('100')
    await checkPage(page)
    await inspector.getByRole('button', { name: 'Write as CEL' }).click()
    await eventually(() => inspector.getByLabel('Only when, CEL').textContent()).toBe('input.total > 100')
    expect(await inspector.getByRole('button', { name: 'As rows' }).count()).toBe(1)
  })

  it('mark syntax errors in code and JSONata at their position', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Programs',
      definition: {
        nodes: [
          { id: 'shape', type: 'transform', args: { input: { a: 1 }, expression: 'a' } },
          { id: 'code', type: 'code', args: { source: 'return 1' } },
        ],
        edges: [],
      },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    const inspector = page.getByRole('region', { name: 'Inspector' })
    const wrong = inspector.locator('.cm-lintRange-error')
    for (const [node, argument, bad, good] of [
      ['shape', 'expression', '$sum(a', '$sum(a)'],
      ['code', 'source', 'return [1, 2', 'return [1, 2]'],
    ] as const) {
      await page.locator(`[data-node="${node}"]`).click()
      const field = inspector.locator(`[data-field="/args/${argument}"]`).getByRole('textbox')
      await writeCode(field, bad)
      await wrong.waitFor()
      await writeCode(field, good)
      await wrong.waitFor({ state: 'detached' })
    }
  })
})
