import { describe, expect, it } from 'vitest'
import { fromWire } from '#platform/ids'
import { eventually, makeBreakableConnection, noBrowser, type Site, useSite, type Visitor } from '#test/harness/site'
import { slow } from '#test/harness/slow'

const question = {
  nodes: [
    {
      id: 'ask',
      type: 'clarification',
      name: 'Ask',
      args: {
        question: 'Which colour?',
        schema: {
          type: 'object',
          properties: { colour: { type: 'string', title: 'Colour', enum: ['green', 'blue'] } },
          required: ['colour'],
        },
      },
    },
    { id: 'done', type: 'set', name: 'Done', args: { values: { chosen: { $ref: 'nodes.ask.output.colour' } } } },
  ],
  edges: [{ from: { node: 'ask' }, to: 'done' }],
  output: { $ref: 'nodes.done.output' },
}

const gate = {
  nodes: [
    {
      id: 'gate',
      type: 'approval',
      name: 'Gate',
      args: {
        title: 'Publish the article?',
        payload: { headline: 'Weaving <b>today</b>', words: 800 },
        policy: {
          approvers: [
            { kind: 'role', id: 'owner' },
            { kind: 'role', id: 'member' },
          ],
          quorum: { n_of: 2 },
          allow_self: true,
        },
      },
    },
  ],
  edges: [],
}

async function run(site: Site, person: Visitor, definition: unknown, name = 'A workflow'): Promise<string> {
  const { workflow_id } = await site.call(person, 'POST', '/api/workflows', { name, definition })
  const { execution_id } = await site.call(person, 'POST', `/api/workflows/${workflow_id}/run`, {})
  return execution_id
}

const status = (visitor: Visitor): Promise<string | null> =>
  visitor.page.getByRole('heading', { level: 1 }).textContent()

describe.skipIf(noBrowser)('people in a workflow', () => {
  const site = useSite()

  slow('a question is answered in the console, and the run continues', async () => {
    const ada = await site().signUp('Ada')
    const execution_id = await run(site(), ada, question)
    await ada.page.goto('/')
    await ada.page.getByRole('link', { name: /Which colour\?/ }).click()
    expect(new URL(ada.page.url()).pathname).toBe(`/runs/${execution_id}`)
    await ada.page.getByRole('button', { name: 'Answer' }).click()
    await ada.page.getByText('is required').waitFor()
    await ada.page.getByRole('combobox', { name: 'Colour' }).selectOption({ label: 'blue' })
    await ada.page.getByRole('button', { name: 'Answer' }).click()
    await eventually(() => status(ada)).toContain('Succeeded')
    await eventually(() => ada.page.getByRole('region', { name: 'Output' }).textContent()).toContain('chosen: "blue"')
  })

  it('two people in two browsers vote on one gate, and each sees the other at once', async () => {
    const ada = await site().signUp('Ada')
    const ben = await site().invite(ada, 'Ben')
    await ben.page.goto('/')
    await ben.page.getByRole('heading', { name: 'Hello, Ben' }).waitFor()
    await run(site(), ada, gate)
    // The notification arrives without a reload.
    await ben.page.getByRole('button', { name: 'Notifications, 1 unread' }).click()
    await ben.page
      .getByRole('link', { name: /Publish the article/ })
      .first()
      .click()
    // The name is exact, because a toast asks for a vote on the same gate.
    await ben.page.getByRole('heading', { name: 'Publish the article?', exact: true }).waitFor()
    await ada.page.goto(new URL(ben.page.url()).pathname)
    await ada.page.getByText('Weaving <b>today</b>').waitFor()

    await ada.page.getByLabel('Comment').fill('Reads well')
    await ada.page.getByRole('button', { name: 'Approve', exact: true }).click()
    await ben.page.getByText('Reads well').waitFor()
    await ben.page.getByRole('button', { name: 'Approve', exact: true }).click()
    for (const { page } of [ada, ben]) await page.getByText('Approved', { exact: true }).waitFor()
    await ada.page.getByRole('link', { name: 'See the run' }).click()
    await eventually(() => status(ada)).toContain('Succeeded')
  })

  slow('a user answers and approves with the keyboard alone', async () => {
    const ada = await site().signUp('Ada')
    const chain = {
      nodes: [
        ...question.nodes.slice(0, 1),
        {
          ...gate.nodes[0],
          args: { ...gate.nodes[0]!.args, policy: { ...gate.nodes[0]!.args.policy, quorum: 'any' } },
        },
      ],
      edges: [{ from: { node: 'ask' }, to: 'gate' }],
    }
    await run(site(), ada, chain)
    const { page } = ada
    await page.goto('/')
    const todo = page.getByRole('link', { name: /Which colour\?/ })
    await todo.waitFor()
    await todo.focus()
    await page.keyboard.press('Enter')
    const colour = page.getByRole('combobox', { name: 'Colour' })
    await colour.waitFor()
    await colour.focus()
    await page.keyboard.type('green')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Publish the article?', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('body').press('g')
    await page.locator('body').press('a')
    await page.getByRole('heading', { name: 'Approvals' }).waitFor()
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await page.locator('body').press('a')
    await page.getByText('You have voted').waitFor()
    await page.getByText('Nothing else to approve').waitFor()
  })

  slow('the page of a run is updated after the connection was lost and restored', async () => {
    const line = await makeBreakableConnection(() => site().service.base)
    try {
      const ada = await site().signUp('Ada', { base: line.base })
      const execution_id = await run(site(), ada, question)
      await ada.page.goto(`/runs/${execution_id}`)
      await ada.page.getByRole('combobox', { name: 'Colour' }).waitFor()
      const cookies = await ada.context.cookies()
      line.cut()
      await ada.page.getByText('Connection lost').waitFor()
      const headers = { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') }
      const answered = await site().service.call('POST', `/api/workflows/executions/${execution_id}/respond`, {
        body: { response: { colour: 'green' } },
        headers,
      })
      expect(answered.status).toBe(202)
      line.restore()
      await eventually(() => status(ada)).toContain('Succeeded')
      await eventually(() => ada.page.getByRole('region', { name: 'Output' }).textContent()).toContain(
        'chosen: "green"',
      )
      expect(await ada.page.getByText('Connection lost').count()).toBe(0)
    } finally {
      await line.close()
    }
  })

  slow('a user on any page of the console is shown as online to others; a user who chose busy stays busy', async () => {
    const ada = await site().signUp('Ada')
    const ben = await site().invite(ada, 'Ben')
    await ben.page.goto('/datasets')
    await ada.page.goto('/people')
    const row = ada.page.getByRole('row', { name: /Ben/ })
    await eventually(() => row.getByRole('img', { name: 'Online' }).count()).toBe(1)
    await ben.page.goto('/people')
    await ben.page.getByRole('button', { name: 'Online' }).click()
    await ben.page.getByRole('menuitemradio', { name: 'Busy' }).click()
    await ben.page.getByText('Colleagues see you as busy').waitFor()
    await ben.page.goto('/runs')
    await ben.page.getByRole('heading', { name: 'Runs' }).waitFor()
    await ada.page.reload()
    await eventually(() => row.getByRole('img', { name: 'Busy' }).count()).toBe(1)
  })

  slow('a run of a version with many newer versions still shows its graph', async () => {
    const ada = await site().signUp('Ada')
    const definition = { nodes: [{ id: 'n', type: 'set', name: 'The first of all', args: { values: {} } }], edges: [] }
    const { workflow_id } = await site().call(ada, 'POST', '/api/workflows', { name: 'Old', definition })
    const { execution_id } = await site().call(ada, 'POST', `/api/workflows/${workflow_id}/run`, {})
    await site().service.sql(
      `insert into workflow_versions (workspace_id, version_id, workflow_id, number, definition, sha256)
       select workspace_id, uuidv7(), workflow_id, number + n, replace(definition::text, 'The first of all', 'Number ' || n)::json, sha256
       from workflow_versions, generate_series(1, 104) as n where workflow_id = $1`,
      [fromWire('wf', workflow_id)],
    )
    await ada.page.goto(`/runs/${execution_id}`)
    await ada.page.getByRole('button', { name: /^The first of all, Set values/ }).waitFor()
    await ada.page.goto(`/workflows/${workflow_id}`)
    await ada.page.getByText('The first of all').waitFor()
  })

  slow('a run is cancelled and started again from a step, after a confirmation', async () => {
    const ada = await site().signUp('Ada')
    const execution_id = await run(site(), ada, question)
    const { page } = ada
    await page.goto(`/runs/${execution_id}`)
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel run' }).click()
    await eventually(() => status(ada)).toContain('Cancelled')
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('dialog').getByLabel('Start from').selectOption({ label: 'Ask' })
    await page.getByRole('dialog').getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('link', { name: 'an earlier run' }).waitFor()
    await page.getByRole('combobox', { name: 'Colour' }).waitFor()
  })
})
