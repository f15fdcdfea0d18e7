import { describe, expect, it } from 'vitest'
import { eventually, noBrowser, useSite, type Visitor } from '#test/harness/site'

const focused = ({ page }: Visitor): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')

describe.skipIf(noBrowser)('the frame of every page', () => {
  const site = useSite()

  it('has menus that open with the keyboard and return the focus', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/')
    const person = page.getByRole('button', { name: 'Ada', exact: true })
    await person.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'hidden' })
    await eventually(() => focused(ada)).toContain('Ada')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')

    const bell = page.getByRole('button', { name: 'Notifications' })
    await bell.focus()
    await page.keyboard.press('Enter')
    await page.getByText('No notifications yet').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('No notifications yet').waitFor({ state: 'hidden' })
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Notifications',
    )
  })

  it('lets a person create another workspace and switch to it', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/')
    await page.getByRole('button', { name: /Switch workspace/ }).click()
    await page.getByRole('menuitem', { name: 'New workspace…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Second place')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Create/ })
      .click()
    await page.getByRole('button', { name: /Second place.*Switch workspace/ }).click()
    await page.getByRole('menuitemradio', { name: /Ada's place/ }).click()
    await page.getByRole('button', { name: /Ada's place.*Switch workspace/ }).waitFor()
  })
})
