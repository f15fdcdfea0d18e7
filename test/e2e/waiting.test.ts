import { describe, expect, it } from 'vitest'
import { fromWire } from '#platform/ids'
import { eventually, noBrowser, type Site, useSite, type Visitor } from '#test/harness/site'

// Things that wait for a person: gates are voted on one by one as they were shown, and the console never denies that
// something waits.

const gateOf = (title: string) => ({
  nodes: [
    {
      id: 'gate',
      type: 'approval',
      args: {
        title,
        payload: { what: title },
        policy: { approvers: [{ kind: 'role', id: 'owner' }], quorum: 'any', allow_self: true },
      },
    },
  ],
  edges: [],
})

const question = {
  nodes: [
    {
      id: 'ask',
      type: 'clarification',
      args: {
        question: 'Which colour?',
        schema: { type: 'object', properties: { colour: { type: 'string', title: 'Colour' } }, required: ['colour'] },
      },
    },
  ],
  edges: [],
}

/** Questions that are due before the other question, which has no due time. */
const hundredQuestions = {
  nodes: [
    {
      id: 'each',
      type: 'map',
      args: {
        items: Array.from({ length: 100 }, (_, n) => n + 1),
        concurrency: 100,
        body: {
          nodes: [
            {
              id: 'ask',
              type: 'clarification',
              args: {
                question: { $cel: "'Number ' + string(item) + '?'" },
                schema: { type: 'object' },
                due_in_s: 172_800,
              },
            },
          ],
          edges: [],
        },
      },
    },
  ],
  edges: [],
}

async function run(site: Site, person: Visitor, definition: unknown): Promise<string> {
  const { workflow_id } = await site.call(person, 'POST', '/api/workflows', { name: 'Asks', definition })
  return (await site.call(person, 'POST', `/api/workflows/${workflow_id}/run`, {})).execution_id
}

describe.skipIf(noBrowser)('approvals and questions that wait for a person', () => {
  const site = useSite()

  it('a vote stays visible until the voter continues; a held key votes once', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const inbox = async () => (await site().call(ada, 'GET', '/api/approvals/inbox')).items
    for (const [index, title] of ['First?', 'Second?', 'Third?'].entries()) {
      await run(site(), ada, gateOf(title))
      await eventually(async () => (await inbox()).length).toBe(index + 1)
    }
    const requests = (await inbox()).map(({ request_id }: { request_id: string }) => request_id)
    const decided = async (index: number) =>
      (await site().call(ada, 'GET', `/api/approvals/${requests[index]}`)).votes[0]?.decision
    await page.goto('/approvals')
    await page.getByRole('heading', { name: 'First?' }).waitFor()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('You have voted').waitFor()
    await page.getByRole('heading', { name: 'First?' }).waitFor()
    expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)

    await page.getByRole('link', { name: 'Next' }).press('Enter')
    await page.getByRole('heading', { name: 'Second?' }).waitFor()
    await page.keyboard.down('a')
    await page.getByText('You have voted').waitFor()
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByRole('heading', { name: 'Third?' }).waitFor()
    await page.getByRole('button', { name: 'Reject', exact: true }).waitFor()
    // The key is still held: the keyboard repeats the event.
    await page.keyboard.down('a')
    await page.keyboard.up('a')
    await page.keyboard.press('r')
    await page.getByText('You have voted').waitFor()
    expect([await decided(0), await decided(1), await decided(2)]).toEqual(['approve', 'approve', 'reject'])
  })

  it('the arguments of a tool call are edited, and another gate asks for votes on them', async () => {
    const ada = await site().signUp('Ada')
    const { page } = ada
    const execution_id = await run(site(), ada, {
      nodes: [
        {
          ...gateOf('Pay?').nodes[0],
          args: { ...gateOf('Pay?').nodes[0]!.args, payload: { arguments: { amount: 5 } } },
        },
      ],
      edges: [],
    })
    await eventually(async () => (await site().call(ada, 'GET', '/api/approvals/inbox')).items.length).toBe(1)
    const schema = {
      type: 'object',
      properties: { amount: { type: 'integer', title: 'Amount' } },
      additionalProperties: false,
    }
    // Turns the gate into a gate of the kind that an agent opens.
    await site().service.sql('update approval_requests set editable = $2 where execution_id = $1', [
      fromWire('exe', execution_id),
      JSON.stringify({ schema, full: schema, fixed: {} }),
    ])
    await page.goto('/approvals')
    await page.getByRole('button', { name: 'Edit arguments…' }).click()
    await page.getByRole('spinbutton', { name: 'Amount' }).fill('7')
    await page.getByRole('button', { name: 'Ask for approval' }).click()
    await page.getByText('Ada edited the arguments.').waitFor()
    const [gate] = (await site().call(ada, 'GET', '/api/approvals/inbox')).items
    expect(gate.payload).toEqual({ arguments: { amount: 7 } })
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('You have voted').waitFor()
    await page.goto(`/approvals/${gate.replaces}`)
    await page.getByRole('link', { name: 'See the edited call' }).waitFor()
  })

  it('a question can be answered even if many other questions are due earlier', async () => {
    const ada = await site().signUp('Ada')
    const asked = async () => (await site().call(ada, 'GET', '/api/clarifications/inbox?limit=200')).items.length
    const execution_id = await run(site(), ada, question)
    await run(site(), ada, hundredQuestions)
    await run(site(), ada, hundredQuestions)
    await eventually(asked).toBe(200)
    await ada.page.goto(`/runs/${execution_id}`)
    await ada.page.getByRole('textbox', { name: 'Colour' }).waitFor()
    await ada.page.goto('/')
    const numbered = ada.page.getByRole('link', { name: /Number \d+\?/ })
    await numbered.first().waitFor()
    const before = await numbered.count()
    // While the next page is loading, a new question is announced and the list is loaded again.
    const isNext = (url: URL): boolean => url.pathname === '/api/clarifications/inbox' && url.searchParams.has('cursor')
    let held = 0
    await ada.page.route(isNext, async (route) => {
      held += 1
      if (held > 1) return route.continue()
      const again = ada.page.waitForRequest((request) => {
        const url = new URL(request.url())
        return url.pathname === '/api/clarifications/inbox' && !isNext(url)
      })
      await run(site(), ada, question)
      await again.catch(() => {})
      await route.continue().catch(() => {})
    })
    await ada.page.getByRole('button', { name: 'Show more questions' }).click()
    await eventually(async () => (await numbered.count()) > before).toBe(true)
  })

  it('a list that could not be loaded is not shown as empty', async () => {
    const ada = await site().signUp('Ada')
    await ada.page.route(/\/api\/(approvals|clarifications)\/inbox/, (route) =>
      route.fulfill({ status: 422, contentType: 'application/problem+json', body: '{"code":"invalid","status":422}' }),
    )
    await ada.page.goto('/')
    await ada.page.getByText('Could not load what waits for you').waitFor()
    expect(await ada.page.getByText('No questions or approvals are waiting for you').count()).toBe(0)
    const execution_id = await run(site(), ada, question)
    await ada.page.goto(`/runs/${execution_id}`)
    await ada.page.getByText('Could not load the question').waitFor()
    expect(await ada.page.getByText('This question is for someone else').count()).toBe(0)
  })
})
