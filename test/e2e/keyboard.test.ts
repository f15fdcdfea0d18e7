import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { PASSWORD } from '#test/harness/browser'
import { eventually, noBrowser, useSite } from '#test/harness/site'

/** Presses Tab until the target has the focus, as a person without a pointer does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < 120; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${target} was not reached`)
}

const press = async (page: Page, target: Locator): Promise<void> => {
  await tabTo(page, target)
  await page.keyboard.press('Enter')
}

describe.skipIf(noBrowser)('without a pointer', () => {
  const site = useSite()

  it('a person signs in, creates a workflow, runs it, answers a question and approves', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await ada.context.clearCookies()
    await page.goto('/sign-in')
    await tabTo(page, page.getByLabel('E-mail'))
    await page.keyboard.type(ada.email)
    await tabTo(page, page.getByLabel('Password'))
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')

    await press(page, page.getByRole('link', { name: 'Workflows', exact: true }))
    await page.waitForURL(/\/workflows$/)
    await press(page, page.getByRole('link', { name: 'New workflow' }).first())
    await press(page, page.getByRole('button', { name: /^Expense approval/ }))
    await press(page, page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }))
    await page.waitForURL(/\/runs\//)

    await tabTo(page, page.getByLabel('Purpose'))
    await page.keyboard.type('Train')
    await tabTo(page, page.getByLabel('Category'))
    await page.keyboard.type('Travel')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')

    await press(page, page.getByRole('button', { name: 'Approve', exact: true }))
    await page.getByRole('button', { name: /^Approved, Set values, succeeded/ }).waitFor()
    await tabTo(page, page.getByRole('button', { name: /^What was it for\?, .*, succeeded/ }))
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('complementary', { name: 'Selected step' }).getByText('An owner approves').waitFor()
    expect(new URL(page.url()).searchParams.get('node')).toBe('approval')
  })

  it('the fields of an input and an output are added, named and removed, and the focus stays in the form', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Fields',
      definition: {
        inputs: { type: 'object', properties: { size: { type: 'string', enum: ['small', 'large'] } } },
        nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?' } }],
        edges: [],
      },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    const inspector = page.getByRole('region', { name: 'Inspector' })

    // The choices are those of the document, also after an undo.
    const choices = inspector.getByRole('textbox', { name: /^Choices for size/ })
    await choices.fill('small, medium, ')
    expect(await choices.inputValue()).toBe('small, medium, ')
    await page.locator('[data-canvas]').press('Control+z')
    await eventually(() => choices.inputValue()).toBe('small, large')

    const hasFocus = (target: Locator): Promise<boolean> =>
      target.evaluate((element) => element === document.activeElement).catch(() => false)
    const add = inspector.getByRole('button', { name: 'Add a field' })

    await add.click()
    await page.keyboard.type('size')
    await page.keyboard.press('Enter')
    await inspector.getByText('Another field has this name.').waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('city')
    await page.keyboard.press('Enter')
    await inspector.getByRole('combobox', { name: 'Type of city' }).waitFor()
    await inspector.getByRole('button', { name: 'Remove city' }).press('Enter')
    await eventually(() => hasFocus(add)).toBe(true)

    await inspector.getByRole('button', { name: 'Define output' }).press('Enter')
    await eventually(() => hasFocus(inspector.getByRole('combobox', { name: 'Type of Output' }))).toBe(true)
    await inspector.getByRole('button', { name: 'Remove Output' }).press('Enter')
    await eventually(() => hasFocus(inspector.getByRole('button', { name: 'Define output' }))).toBe(true)

    // A number that is filled in is selected, to be typed over.
    await page.locator('[data-node="ask"]').click()
    await inspector.getByRole('button', { name: 'Due after (seconds)' }).press('Enter')
    const due = inspector.getByRole('textbox', { name: 'Due after (seconds)' })
    await eventually(() => hasFocus(due)).toBe(true)
    await page.keyboard.type('3600')
    expect(await due.inputValue()).toBe('3600')
  })

  it('data is picked for a value and for an expression, and the focus returns to the field', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Picked',
      definition: {
        inputs: { type: 'object', properties: { name: { type: 'string' } } },
        nodes: [{ id: 'ask', type: 'clarification', args: { question: 'Well?' } }],
        edges: [],
      },
    })
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="ask"]').click()
    const inspector = page.getByRole('region', { name: 'Inspector' })
    const fromData = inspector.getByRole('group', { name: 'Question is' }).getByRole('button', { name: 'From data' })
    const focused = (): Promise<string | null> =>
      page.evaluate(() => {
        const element = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement
        return element?.getAttribute('aria-label') ?? null
      })
    const search = page.getByRole('combobox', { name: 'Search the data' })

    await fromData.press('Enter')
    await search.press('Escape')
    await search.waitFor({ state: 'detached' })
    await eventually(focused).toBe('From data')
    await fromData.press('Enter')
    await search.fill('name')
    await search.press('Enter')
    await inspector.getByRole('textbox', { name: 'Question, from data' }).waitFor()
    await eventually(focused).toBe('From data')

    await inspector.getByRole('group', { name: 'Question is' }).getByRole('button', { name: 'Expression' }).click()
    await inspector.getByLabel('Question, CEL').waitFor()
    await inspector.getByRole('button', { name: 'Data', exact: true }).press('Enter')
    await search.fill('name')
    await search.press('Enter')
    await search.waitFor({ state: 'detached' })
    await eventually(focused).toBe('Question, CEL')
  })
})
