import type { Client } from '../client.ts'
import { all } from '../lists.ts'
import type { Workflow } from '../types.generated.ts'
import { type Command, textOf } from './command.ts'
import { clientFromEnvironment } from './credentials.ts'

export async function findWorkflow(client: Client, wanted: string): Promise<Workflow> {
  if (/^wf_\w{26}$/.test(wanted)) return client.getWorkflow({ workflow_id: wanted })
  const found: Workflow[] = []
  for await (const workflow of all(client.listWorkflows))
    if (workflow.name === wanted || workflow.workflow_id === wanted) found.push(workflow)
  if (found.length !== 1)
    throw new Error(
      found.length === 0
        ? `There is no workflow "${wanted}".`
        : `${found.length} workflows are called "${wanted}"; use the id.`,
    )
  return found[0]!
}

export const list: Command = {
  words: [],
  about: 'List the workflows that you own or are a member of.',
  options: {},
  async run(_words, values, out) {
    const found: Workflow[] = []
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    for await (const workflow of all(client.listWorkflows)) found.push(workflow)
    const lines = found.map(({ workflow_id, kind, name }) => `${workflow_id}\t${kind}\t${name}`)
    out.show({ workflows: found }, lines.join('\n'))
  },
}
