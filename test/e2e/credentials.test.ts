import { describe, expect, it } from 'vitest'
import { eventually, noBrowser, useSite } from '#test/harness/site'

describe.skipIf(noBrowser)('credentials', () => {
  const site = useSite()

  it('are stored, shared, used in a node and revoked; a secret in a header is moved into a credential', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await page.goto('/credentials')
    await page.getByRole('link', { name: 'New credential' }).first().click()
    await page.getByLabel('What is it for?').fill('github')
    await page.getByRole('link', { name: 'GitHub', exact: true }).click()
    await page.getByLabel('Token').fill('ghp-secret-of-ada')
    await page.getByRole('button', { name: 'Save credential' }).click()
    await page.getByRole('heading', { name: 'GitHub', exact: true }).waitFor()
    await page.getByText('api.github.com').waitFor()
    expect(await page.content()).not.toContain('ghp-secret-of-ada')

    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByLabel('Everyone in the workspace').selectOption('use')
    await page.getByRole('button', { name: 'Save sharing' }).click()
    await page.getByText('Sharing was saved').waitFor()

    const definition = {
      nodes: [
        {
          id: 'call',
          type: 'http.request',
          args: { url: 'https://api.shop.example/orders', headers: { Authorization: 'Bearer shop-secret-token' } },
        },
      ],
      edges: [],
    }
    const made = (await site().call(ada, 'POST', '/api/workflows', { name: 'Shop', definition })) as {
      workflow_id: string
    }
    await page.goto(`/workflows/${made.workflow_id}/editor`)
    await page.locator('.react-flow__node').first().click()
    await page.getByRole('button', { name: 'Move to a credential' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save credential' }).click()
    await eventually(() => page.getByText('holds a secret that everybody').count()).toBe(0)
    await eventually(() => page.getByRole('button', { name: 'Move to a credential' }).count()).toBe(0)

    await page.goto('/credentials')
    await page.getByRole('link', { name: 'GitHub' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('button', { name: 'Revoke credential' }).click()
    await page.getByText('erased', { exact: true }).waitFor()
  })
})
