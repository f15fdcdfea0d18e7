import { describe, expect, it } from 'vitest'
import { noBrowser, useSite } from '#test/harness/site'

describe.skipIf(noBrowser)('event destinations', () => {
  const site = useSite()

  it('are created with a secret that is shown once, tested, changed, disabled and deleted', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/destinations')
    await page.getByText('No event destinations yet').waitFor()
    await page.getByRole('button', { name: 'New destination' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill('http://127.0.0.1:1/events')
    await dialog.getByRole('button', { name: 'Create destination' }).click()
    await dialog.getByText('must begin with https://').waitFor()
    await dialog.getByLabel('Address').fill('https://receiver.invalid/events')
    await dialog.getByRole('checkbox', { name: 'Approvals: all' }).click()
    await dialog.getByRole('button', { name: 'Create destination' }).click()
    await dialog.getByText('It is shown only now').waitFor()
    await dialog.getByRole('button', { name: 'Saved' }).click()
    await page.getByRole('heading', { name: 'receiver.invalid' }).waitFor()
    await page.getByText('approval.*, execution.failed').waitFor()
    expect(await page.content()).not.toContain('whsec_')

    await page.getByText('Nothing was sent yet').waitFor()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('alert').getByText('It does not work').waitFor()
    await page.getByText('destination.test').waitFor()

    await page.getByRole('button', { name: 'Change' }).click()
    await dialog.getByRole('checkbox', { name: 'Jobs: all' }).click()
    await dialog.getByRole('button', { name: 'Save destination' }).click()
    await page.getByText('approval.*, execution.failed, job.*').waitFor()

    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByRole('button', { name: 'Create a new secret' }).click()
    await page.getByRole('heading', { name: 'The new signing secret' }).waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('It was switched off by hand').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete destination' }).click()
    await page.getByText('No event destinations yet').waitFor()
  })
})
