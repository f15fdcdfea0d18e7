import { describe, expect, it } from 'vitest'
import { eventually, noBrowser, useSite } from '#test/harness/site'

// The console offers only what a person may do, and shows only what is true.

const simple = { nodes: [{ id: 'n', type: 'set', args: { values: {} } }], edges: [] }

describe.skipIf(noBrowser)('roles in the console', () => {
  const site = useSite()

  it('the editor offers to run a workflow only if the person may run it', async () => {
    const ada = await site().signUp('Ada')
    const ben = await site().invite(ada, 'Ben')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Shared', definition: simple })
    const { user } = await site().call(ben, 'GET', '/auth/me')
    const share = (role: string) =>
      site().call(ada, 'PATCH', `/api/workflows/${workflow_id}`, { members: [{ user_id: user.user_id, role }] })
    await share('viewer')
    const state = ben.page.getByTestId('saved-state')
    const offered = ben.page.getByRole('button', { name: 'Run', exact: true })
    await ben.page.goto(`/workflows/${workflow_id}/editor`)
    await state.waitFor()
    expect(await state.textContent()).toBe('You can view it. Only its owner can edit it')
    expect(await offered.count()).toBe(0)
    await share('member')
    await ben.page.reload()
    await offered.waitFor()
    expect(await state.textContent()).toBe('You can view it and run it. Only its owner can edit it')
  })

  it('a person with whom a workflow is not shared sees only links to pages that they may open', async () => {
    const ada = await site().signUp('Ada')
    const ben = await site().invite(ada, 'Ben')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Hers', definition: simple })
    await ben.page.goto(`/workflows/${workflow_id}`)
    const sections = ben.page.getByRole('navigation', { name: 'Sections of the workflow' })
    await sections.getByRole('link', { name: 'Overview' }).waitFor()
    expect(await sections.getByRole('link').allTextContents()).toEqual(['Overview', 'Access', 'Settings'])
    await ben.page.getByText('Only members can see the steps').waitFor()
    expect(await ben.page.getByText('none active').count()).toBe(0)
  })

  it('the list of other workflows contains only workflows that the person may run', async () => {
    const ada = await site().signUp('Ada')
    const ben = await site().invite(ada, 'Ben')
    await site().call(ada, 'POST', '/api/workflows', { name: 'Hers', definition: simple })
    const other = await site().call(ben, 'POST', '/api/workflows', { name: 'Other', definition: simple })
    const { workflow_id } = await site().call(ben, 'POST', '/api/workflows', {
      name: 'Caller',
      definition: {
        nodes: [{ id: 'call', type: 'subworkflow', args: { workflow_id: other.workflow_id, input: {} } }],
        edges: [],
      },
    })
    const { page } = ben
    await page.goto(`/workflows/${workflow_id}/editor`)
    await page.locator('[data-node="call"]').click()
    const pick = page.getByRole('region', { name: 'Inspector' }).getByRole('combobox', { name: 'Workflow' })
    await pick.locator('option', { hasText: 'Other' }).waitFor({ state: 'attached' })
    const offered = await pick.locator('option').allTextContents()
    expect(offered).not.toContain('Hers')
    expect(offered).not.toContain('Caller')

    await page.goto(`/workflows/${workflow_id}/settings`)
    const failed = page.getByLabel('Error workflow')
    await failed.locator('option', { hasText: 'Other' }).waitFor({ state: 'attached' })
    expect(await failed.locator('option').allTextContents()).not.toContain('Hers')
    const settings = async () => (await site().call(ben, 'GET', `/api/workflows/${workflow_id}`)).settings
    const save = page.locator('section', { hasText: 'When a run fails' }).getByRole('button', { name: 'Save' })
    await failed.selectOption(other.workflow_id)
    await save.click()
    await eventually(settings).toMatchObject({ error_workflow_id: other.workflow_id })
    await failed.selectOption('')
    await save.click()
    await eventually(settings).not.toHaveProperty('error_workflow_id')
  })

  it('no person is shown as a former member before all members are loaded', async () => {
    const ada = await site().signUp('Ada')
    const ben = await site().invite(ada, 'Ben')
    const { workflow_id } = await site().call(ben, 'POST', '/api/workflows', { name: 'His', definition: simple })
    const known = Promise.withResolvers<void>()
    await ada.page.route(/\/members\?/, async (route) => {
      await known.promise
      await route.continue()
    })
    await ada.page.goto(`/workflows/${workflow_id}`)
    await ada.page.getByText('a colleague').waitFor()
    expect(await ada.page.getByText('a former member').count()).toBe(0)
    known.resolve()
    await ada.page.getByText('Ben', { exact: true }).waitFor()
  })

  it('an approver who cannot see the run gets no link to it', async () => {
    const ada = await site().signUp('Ada')
    const ben = await site().invite(ada, 'Ben')
    const policy = { approvers: [{ kind: 'role', id: 'member' }], quorum: 'any' }
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Gated',
      definition: { nodes: [{ id: 'gate', type: 'approval', args: { title: 'Go?', payload: {}, policy } }], edges: [] },
    })
    await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run`, {})
    const inbox = async () => (await site().call(ben, 'GET', '/api/approvals/inbox')).items
    await eventually(async () => (await inbox()).length).toBe(1)
    const [{ request_id }] = await inbox()
    for (const [who, links] of [
      [ada, 1],
      [ben, 0],
    ] as const) {
      await who.page.goto(`/approvals/${request_id}`)
      await who.page.getByRole('heading', { name: 'Go?', exact: true }).waitFor()
      await eventually(() => who.page.getByRole('link', { name: 'See the run' }).count()).toBe(links)
    }
  })
})
