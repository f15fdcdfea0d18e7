import { readFileSync, writeFileSync } from 'node:fs'
import { type Command, isSet, type Out, textOf } from './command.ts'
import { clientFromEnvironment } from './credentials.ts'
import { type Document, documentText } from './folder.ts'
import { findWorkflow } from './workflows.ts'

type Warning = { path: string; message: string }
const warn = (out: Out, warnings: readonly Warning[]): void => {
  if (!out.isJson) for (const { path, message } of warnings) out.note(`${path} ${message}`)
}

export const exportWorkflow: Command = {
  words: ['WORKFLOW'],
  about: 'Print the active version as a document for git, with names instead of ids. The document is always JSON.',
  options: { to: { type: 'string', value: 'FILE', about: 'write it into this file' } },
  async run([wanted], values, out) {
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    const { workflow_id } = await findWorkflow(client, wanted!)
    const { document, warnings = [] } = await client.exportWorkflow({ workflow_id })
    const file = textOf(values, 'to')
    if (file === undefined) {
      for (const { path, message } of warnings) out.note(`${path} ${message}`)
      process.stdout.write(documentText(document))
      return
    }
    warn(out, warnings)
    writeFileSync(file, documentText(document))
    out.show({ workflow_id, file, warnings }, file)
  },
}

function readDocument(file: string): Document {
  const text = readFileSync(file, 'utf8')
  try {
    return JSON.parse(text) as Document
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`)
  }
}

export const importWorkflow: Command = {
  words: ['FILE'],
  about:
    'Create a workflow from a document, or a new version of a workflow. References in the document are resolved by name; missing ones are listed.',
  options: {
    workflow: {
      type: 'string',
      value: 'WORKFLOW',
      about: 'create a version of this workflow instead of a new workflow',
    },
    activate: { type: 'boolean', about: 'activate the new version' },
    note: { type: 'string', value: 'TEXT', about: 'the note of the new version' },
  },
  async run([file], values, out) {
    const document = readDocument(file!)
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    const target = textOf(values, 'workflow')
    const note = textOf(values, 'note')
    const into =
      target === undefined
        ? {}
        : { workflow_id: (await findWorkflow(client, target)).workflow_id, activate: isSet(values, 'activate') }
    const made = await client.importWorkflow({ document, ...into, ...(target !== undefined && note && { note }) })
    const warnings = made.warnings ?? []
    warn(out, warnings)
    const workflow_id = String(made.workflow_id)
    const version = await client.getVersion({ workflow_id, version_id: String(made.version_id) })
    const { version_id, number, active } = version
    const text = target === undefined ? workflow_id : `${version_id}\tnumber ${number}${active ? ', active' : ''}`
    out.show({ workflow_id, version_id, number, active, created: made.created, warnings }, text)
  },
}
