import { describe, expect, it } from 'vitest'
import { freshEmail, PASSWORD } from '#test/harness/browser'
import { eventually, noBrowser, useSite } from '#test/harness/site'
import { slow } from '#test/harness/slow'

describe.skipIf(noBrowser)('a new user', () => {
  const site = useSite()

  it('signs up, chooses a first workflow, runs it and sees its data, with three clicks', async () => {
    const { page } = await site().visit()
    await page.goto('/')
    await page.getByRole('link', { name: 'Create an account' }).click()
    await page.getByLabel('Your name').fill('Ada Lovelace')
    await page.getByLabel('E-mail').fill(freshEmail())
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()

    await page.getByRole('heading', { name: 'Hello, Ada' }).waitFor()
    await page.getByRole('button', { name: /^Summarise orders/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await page
      .getByRole('button', { name: /^Add them up/ })
      .first()
      .click()
    const step = page.getByRole('complementary', { name: 'Selected step' })
    await eventually(() => step.getByRole('region', { name: 'Output of Add them up' }).textContent()).toContain(
      'total: 515.5',
    )
    await eventually(() => page.getByRole('heading', { level: 1 }).textContent()).toContain('Succeeded')
    await eventually(() => page.getByRole('button', { name: /^A large order, Set values, succeeded/ }).count()).toBe(1)
  })

  slow('is offered the existing workflows in a workspace without runs', async () => {
    const ada = await site().signUp('Ada')
    await site().call(ada, 'POST', '/api/workflows', {
      name: 'Welcome',
      definition: { nodes: [{ id: 'n', type: 'set', args: { values: {} } }], edges: [] },
    })
    const { page } = ada
    await page.goto('/')
    await page.getByRole('link', { name: /^Run Welcome/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await eventually(() => page.getByRole('heading', { level: 1 }).textContent()).toContain('Succeeded')
    await page.goto('/')
    await page.getByRole('table', { name: 'Runs' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Run your first workflow' }).count()).toBe(0)
  })

  slow('runs a built-in workflow, whose form shows its inputs', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/workflows')
    await page.getByRole('link', { name: 'Workspace usage report' }).click()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await eventually(() => dialog.getByRole('spinbutton', { name: 'days' }).inputValue()).toBe('30')
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    await eventually(() => page.getByRole('heading', { level: 1 }).textContent()).toContain('Succeeded')
    await page.getByRole('button', { name: /^usage, Workspace usage/ }).waitFor()
  })

  slow('fills the form of a run from a text', async () => {
    const ada = await site().signUp('Ada')
    const inputs = {
      type: 'object',
      properties: {
        amount: { type: 'number', title: 'Amount' },
        email: { type: 'string', format: 'email', title: 'E-mail' },
      },
      required: ['amount', 'email'],
    }
    const definition = { inputs, nodes: [], edges: [], output: { $ref: 'input' } }
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Order', definition })
    const { page } = ada
    const isForm = /\/schema-form-inside-[^/]+\.js$/
    const asked = Promise.withResolvers<void>()
    const shown = Promise.withResolvers<void>()
    await page.route(isForm, async (route) => {
      asked.resolve()
      await shown.promise
      await route.continue()
    })
    await page.goto(`/workflows/${workflow_id}?run=yes`)
    const dialog = page.getByRole('dialog')
    const fillIn = dialog.getByText('Fill in from a message')
    await asked.promise
    await dialog.getByRole('status', { name: 'Loading' }).waitFor()
    // Beside a form that is still loading, it would move away from the pointer.
    expect(await fillIn.isVisible()).toBe(false)
    shown.resolve()
    await fillIn.click()
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Please send it to eve@example.com, the amount is 42')
    await dialog.getByRole('button', { name: 'Fill in' }).click()
    await eventually(() => dialog.getByRole('textbox', { name: 'E-mail' }).inputValue()).toBe('eve@example.com')
  })

  slow('sees at the field what is wrong with a password, and a wrong sign-in reveals nothing', async () => {
    const { page } = await site().visit()
    await page.goto('/sign-up')
    await page.getByLabel('Your name').fill('Ada')
    await page.getByLabel('E-mail').fill(freshEmail())
    await page.getByLabel('Password').fill('short')
    await page.getByRole('button', { name: 'Create account' }).click()
    await eventually(() => page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')

    await page.goto('/sign-in')
    await page.getByLabel('E-mail').fill('nobody@example.com')
    await page.getByLabel('Password').fill('not the password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
  })

  slow('returns to the requested page after signing in', async () => {
    const ada = await site().signUp('Ada')
    await ada.context.clearCookies()
    await ada.page.goto('/runs?status=failed,timed_out')
    await ada.page.getByLabel('E-mail').fill(ada.email)
    await ada.page.getByLabel('Password').fill(PASSWORD)
    await ada.page.getByRole('button', { name: 'Sign in' }).click()
    await ada.page.getByRole('heading', { name: 'Runs' }).waitFor()
    expect(await ada.page.getByLabel('State').inputValue()).toBe('failed,timed_out')
  })

  slow('signs in again on the same page after the session ends, and keeps typed text', async () => {
    const ada = await site().signUp('Ada')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Mine' })
    await ada.page.goto(`/workflows/${workflow_id}/settings`)
    await ada.page.getByLabel('Description').fill('Half a sentence')
    // Ends the session only after the click: any other request without a session would cover the button with the dialog.
    await ada.page.route(`**/api/workflows/${workflow_id}`, async (route) => {
      if (route.request().method() !== 'GET') await site().call(ada, 'POST', '/auth/sign-out')
      await route.continue()
    })
    await ada.page.getByRole('button', { name: 'Save' }).first().click()
    const dialog = ada.page.getByRole('dialog', { name: 'Your session has ended' })
    const password = dialog.getByLabel('Password')
    await password.waitFor()
    // A click or a key for the page, at the moment the dialog opens, must not discard the text.
    await ada.page.mouse.click(5, 5)
    await ada.page.keyboard.press('Escape')
    await password.fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in again' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await ada.page.unrouteAll()
    expect(await ada.page.getByLabel('Description').inputValue()).toBe('Half a sentence')
    await ada.page.getByRole('button', { name: 'Save' }).first().click()
    await ada.page.getByText('Saved', { exact: true }).waitFor()
  })

  slow('accepts an invitation with their own password', async () => {
    const ada = await site().signUp('Ada')
    const { selected_workspace_id } = await site().call(ada, 'GET', '/auth/me')
    const email = freshEmail()
    const invite = `/api/workspaces/${selected_workspace_id}/members/invite`
    const { link } = await site().call(ada, 'POST', invite, { email, role: 'viewer' })
    const { page } = await site().visit()
    await page.goto(new URL(link).pathname)
    await page.getByRole('heading', { name: "Join Ada's place" }).waitFor()
    await page.getByLabel('Your name').fill('Vera')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account and join' }).click()
    await page.getByRole('heading', { name: 'Hello, Vera' }).waitFor()
    await page.getByRole('link', { name: 'Workflows' }).click()
    await page.getByRole('table', { name: 'Workflows' }).waitFor()
    expect(await page.getByRole('link', { name: 'New workflow' }).count()).toBe(0)
  })
})
