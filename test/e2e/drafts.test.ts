import { describe, expect, it } from 'vitest'
import { fromWire } from '#platform/ids'
import { eventually, noBrowser, type Site, useSite, type Visitor } from '#test/harness/site'

// Drafts that are stored on a device, and versions that were saved after them.

const simple = {
  inputs: { type: 'object', properties: { name: { type: 'string' } } },
  nodes: [{ id: 'drafted', type: 'set', args: { values: {} } }],
  edges: [],
}

type Began = { version_id: string; number: number } | null

/** Stores a draft on this device, as an earlier visit does. */
async function keepDraft(site: Site, visitor: Visitor, workflowId: string, base: Began): Promise<void> {
  const { user } = await site.call(visitor, 'GET', '/auth/me')
  const draft = { doc: simple, base, kept_at: new Date().toISOString(), page: 'another' }
  await visitor.page.goto('/')
  await visitor.page.evaluate(
    ([key, text]) => localStorage.setItem(key!, text!),
    [`heddle.draft.${user.user_id}.${workflowId}`, JSON.stringify(draft)],
  )
  await visitor.page.goto(`/workflows/${workflowId}/editor`)
  await visitor.page.getByText('Your unsaved changes were restored').waitFor()
}

describe.skipIf(noBrowser)('drafts', () => {
  const site = useSite()

  it('a draft of a workflow without versions is run without saving a version, or is discarded', async () => {
    const ada = await site().signUp('Ada')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'New' })
    await keepDraft(site(), ada, workflow_id, null)
    await ada.page.getByRole('button', { name: 'Run', exact: true }).click()
    await ada.page.getByText('without saving a version').waitFor()
    await ada.page.keyboard.press('Escape')
    const drafted = ada.page.locator('[data-node="drafted"]')
    await drafted.waitFor()
    await ada.page.getByRole('button', { name: 'Discard' }).click()
    await eventually(() => drafted.count()).toBe(0)
  })

  it('a draft of an old version is recognised as older than all later versions', async () => {
    const ada = await site().signUp('Ada')
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', {
      name: 'Old',
      definition: { nodes: [], edges: [] },
    })
    const { items } = await site().call(ada, 'GET', `/api/workflows/${workflow_id}/versions`)
    await site().service.sql(
      `insert into workflow_versions (workspace_id, version_id, workflow_id, number, definition, sha256)
       select workspace_id, uuidv7(), workflow_id, number + n, definition, sha256
       from workflow_versions, generate_series(1, 12) as n where workflow_id = $1`,
      [fromWire('wf', workflow_id)],
    )
    await keepDraft(site(), ada, workflow_id, { version_id: items[0].version_id, number: 1 })
    await ada.page.getByText('Your draft is based on an older version').waitFor()
    await ada.page.getByRole('button', { name: 'Discard' }).click()
    expect(await ada.page.getByTestId('saved-state').textContent()).toBe('Version 1')
  })
})
