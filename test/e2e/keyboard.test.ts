import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { PASSWORD } from '#test/harness/browser'
import { noBrowser, useSite } from '#test/harness/site'

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
})
