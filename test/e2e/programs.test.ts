import { describe, expect, it } from 'vitest'
import { noBrowser, useSite } from '#test/harness/site'

const CALLBACK = 'http://127.0.0.1:8123/callback'

describe.skipIf(noBrowser)('a program that wants to call /mcp', () => {
  const site = useSite()

  it('is shown with its workflows, allowed, listed and removed', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    await site().call(ada, 'POST', '/api/workflows', {
      name: 'Weave a scarf',
      definition: { nodes: [], edges: [] },
      settings: { mcp_tool: true },
    })
    const registered = await site().service.call('POST', '/oauth/register', {
      body: { redirect_uris: [CALLBACK], client_name: '<b>Loom Desk</b>' },
    })
    await page.route(`${CALLBACK}**`, (route) => route.fulfill({ body: 'Back in the program' }))
    const asked = new URLSearchParams({
      client_id: registered.body.client_id,
      redirect_uri: CALLBACK,
      response_type: 'code',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      state: 'mine',
    })
    await page.goto(`/oauth/authorize?${asked}`)
    await page.getByText('<b>Loom Desk</b>').waitFor()
    await page.getByText('127.0.0.1:8123').waitFor()
    await page.getByText('Weave a scarf').waitFor()
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText('Back in the program').waitFor()
    const back = new URL(page.url()).searchParams
    expect([back.get('state'), back.get('code') !== null]).toEqual(['mine', true])
    await page.goto('/keys')
    await page.getByRole('button', { name: 'Remove <b>Loom Desk</b>' }).click()
    await page.getByRole('button', { name: 'Remove program' }).click()
    await page.getByText('The program was removed').waitFor()
    expect((await site().call(ada, 'GET', '/api/oauth/grants')).items).toEqual([])
  })
})
