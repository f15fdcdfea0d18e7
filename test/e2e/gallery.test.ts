import { describe, expect, it } from 'vitest'
import { checkPage } from '#test/harness/axe'
import { noBrowser, useSite } from '#test/harness/site'

describe.skipIf(noBrowser)('the gallery', () => {
  const site = useSite()

  it('leads from a search to a run with sample data, and to the triggers of the workflow', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/workflows/new')
    await page.getByLabel('Search the gallery').fill('new and gone')
    await checkPage(page)
    await page.getByRole('button', { name: /What is new and what is gone/ }).click()
    await page.waitForURL(/\/workflows\/wf_/)
    const workflowId = /wf_[0-9a-z]+/.exec(page.url())![0]
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Succeeded').first().waitFor()

    await page.goto(`/workflows/${workflowId}/editor`)
    await page.getByRole('button', { name: 'How this workflow starts: By hand' }).click()
    const starts = page.getByRole('dialog', { name: 'How this workflow starts' })
    await starts.getByRole('button', { name: 'Add schedule' }).click()
    const schedule = page.getByRole('dialog', { name: 'Add schedule' })
    await schedule.getByLabel('Runs', { exact: true }).selectOption('At an interval')
    await schedule.getByRole('button', { name: 'Continue' }).click()
    await schedule.getByRole('button', { name: 'Save schedule' }).click()
    await schedule.waitFor({ state: 'hidden' })
    await starts.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: /How this workflow starts: By hand, Schedule/ }).waitFor()
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflowId}/schedules`)
    expect(items).toHaveLength(1)
  })
})
