import type { Answer } from './call.ts'
import type { TestPerson } from './world.ts'

// Helpers for tests of triggers.

/** Creates a workflow that returns the item that started it. */
export async function makeTriggered(person: TestPerson, inputs: object = {}): Promise<string> {
  const definition = {
    inputs,
    nodes: [{ id: 'a', type: 'set', args: { values: { item: { $ref: 'input.item' } } } }],
    edges: [],
  }
  const made = await person.call('POST', '/api/workflows', { body: { name: 'W', definition } })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.workflow_id
}

export const readTrigger = async (person: TestPerson, workflowId: string, triggerId: string): Promise<Answer['body']> =>
  (await person.call('GET', `/api/workflows/${workflowId}/triggers/${triggerId}`)).body

/** Returns the inputs of all executions of the workflow. */
export async function inputsOf(person: TestPerson, workflowId: string): Promise<Answer['body'][]> {
  const listed = await person.call('GET', `/api/workflows/${workflowId}/executions?limit=200`)
  return Promise.all(
    listed.body.items.map(async ({ execution_id }: { execution_id: string }) => {
      const { body } = await person.call('GET', `/api/workflows/executions/${execution_id}`)
      return body.input
    }),
  )
}
