import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { convertN8n } from '#model/n8n/convert'
import { documentOf, summaryOf, withCredentials } from '#model/n8n/document'
import { readN8n } from '#model/n8n/read'
import { type Converted, ImportFailure } from '#model/n8n/types'
import { credentialIds, optionsFrom } from '../n8n/options.ts'
import { HeddleProblem } from '../problems.ts'
import { type Command, EXIT, type Out, textOf } from './command.ts'
import { clientFromEnvironment } from './credentials.ts'
import { type Document, fileFor, writeDocument } from './folder.ts'

const filesIn = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((file) => file.endsWith('.json'))
        .sort()
        .map((file) => join(path, file))
    : [path]

type Line = {
  file: string
  name: string | null
  workflow_id: string | null
  document: string | null
  problem: string | null
} & Partial<Pick<Converted, 'report' | 'credentials' | 'triggers' | 'notes'>>

function textFor(line: Line): string {
  const { file, name, report = [], credentials = [], triggers = [], problem } = line
  if (report.length === 0) return `! ${file}\t${problem}`
  const { converted, remark, by_hand } = summaryOf({ report })
  return [
    `${problem === null ? '+' : '!'} ${line.workflow_id ?? line.document ?? file}\t${name}`,
    `  ${converted} converted, ${remark} with a remark, ${by_hand} to be done by hand`,
    ...report
      .filter(({ outcome }) => outcome !== 'converted')
      .map(({ node, outcome, why }) => `  ${outcome === 'by_hand' ? 'by hand' : 'remark '}  ${node}: ${why}`),
    ...credentials.map((one) => `  credential  ${one.name} (${one.kind})`),
    ...triggers.map(({ node, about }) => `  trigger  ${node}: ${about}`),
    ...(problem === null ? [] : [`  ${problem}`]),
  ].join('\n')
}

export const importN8n: Command = {
  words: ['FILE'],
  about:
    'Convert workflows of n8n, from a file or a folder of files, and create them. The report names every node: converted, converted with a remark, or to be done by hand.',
  options: {
    out: { type: 'string', value: 'DIR', about: 'write documents into this folder instead of creating workflows' },
  },
  async run([path], values, out: Out) {
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    const options = await optionsFrom(client)
    const directory = textOf(values, 'out')
    const ids = directory === undefined ? await credentialIds(client) : new Map<string, string>()
    if (directory !== undefined) mkdirSync(directory, { recursive: true })
    const taken = new Set(directory === undefined ? [] : readdirSync(directory))
    const lines: Line[] = []
    for (const file of filesIn(path!)) {
      const line: Line = { file, name: null, workflow_id: null, document: null, problem: null }
      lines.push(line)
      try {
        const converted = convertN8n(readN8n(readFileSync(file, 'utf8')), options)
        const { name, report, credentials, triggers, notes } = converted
        Object.assign(line, { name, report, credentials, triggers, notes })
        if (directory === undefined) {
          const definition = withCredentials(converted.definition, credentials, (one) => ids.get(one.name))
          line.workflow_id = (await client.createWorkflow({ name, definition: { ...definition } })).workflow_id
        } else {
          const target = fileFor(name, taken)
          taken.add(target)
          writeDocument(directory, target, documentOf(converted) as unknown as Document)
          line.document = join(directory, target)
        }
      } catch (error) {
        const isTold =
          error instanceof ImportFailure ||
          (error instanceof HeddleProblem && error.status === 422) ||
          (error instanceof HeddleProblem && error.status === 400)
        if (!isTold) throw error
        line.problem = [
          error.message,
          ...(error instanceof HeddleProblem
            ? error.errors.slice(0, 5).map((one) => `${one.path} ${one.message}`)
            : []),
        ].join(' ')
      }
    }
    out.show({ workflows: lines }, lines.map(textFor).join('\n'))
    return lines.some(({ problem }) => problem !== null) ? EXIT.failed : EXIT.done
  },
}
