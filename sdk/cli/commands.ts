import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { type Client, makeClient } from '../client.ts'
import { waitForExecution } from '../executions.ts'
import { all } from '../lists.ts'
import type { Frame } from '../sockets.ts'
import { watchExecution } from '../sockets.ts'
import type { Workflow } from '../types.generated.ts'
import { clientFromEnvironment, remember } from './credentials.ts'
import { type Document, documentText } from './folder.ts'
import { rotateKey } from './rotate-key.ts'
import { exitCodeOf, type Line, type Options, type Outcome, pull, push } from './sync.ts'

type Values = {
  base?: string
  key?: string
  workspace?: string
  input?: string
  wait?: boolean
  follow?: boolean
  to?: string
  workflow?: string
  activate?: boolean
  note?: string
  'dry-run'?: boolean
  force?: boolean
  delete?: boolean
  json?: boolean
  'new-key-file'?: string
}
type Command = (positionals: string[], values: Values) => Promise<void>

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const required = (value: string | undefined, what: string): string => {
  if (value === undefined) throw new Error(`${what} is missing. See: heddle help`)
  return value
}

async function findWorkflow(client: Client, wanted: string): Promise<Workflow> {
  if (/^wf_\w{26}$/.test(wanted)) return client.getWorkflow({ workflow_id: wanted })
  const found: Workflow[] = []
  for await (const workflow of all(client.listWorkflows))
    if (workflow.name === wanted || workflow.workflow_id === wanted) found.push(workflow)
  if (found.length !== 1)
    throw new Error(
      found.length === 0
        ? `There is no workflow "${wanted}".`
        : `"${wanted}" names ${found.length} workflows; use the id.`,
    )
  return found[0]!
}

function readInput(given: string | undefined): Record<string, unknown> {
  if (given === undefined) return {}
  const text = given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (error) {
    throw new Error(`--input is not JSON: ${(error as Error).message}`)
  }
}

/** A key in the command itself would stand in the history of the shell. */
async function askForKey(): Promise<string | undefined> {
  if (!process.stdin.isTTY) return process.env.HEDDLE_KEY ?? ((await text(process.stdin)).trim() || undefined)
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return (await asking.question('API key (made in the console under "API keys"): ')).trim() || undefined
  } finally {
    asking.close()
  }
}

const login: Command = async (_, { base = 'http://127.0.0.1:4100', key, workspace }) => {
  const token = required(key ?? (await askForKey()), '--key')
  const { user } = await makeClient({ baseUrl: base, token }).getMe()
  print(
    `Signed in as ${user.email}; remembered in ${remember({ base, key: token, ...(workspace !== undefined && { workspace }) })}`,
  )
}

const list: Command = async (_, values) => {
  for await (const { workflow_id, kind, name } of all(clientFromEnvironment(values).listWorkflows))
    print(`${workflow_id}\t${kind}\t${name}`)
}

const run: Command = async ([wanted], { input, wait, workspace }) => {
  const client = clientFromEnvironment({ workspace })
  const { workflow_id, kind } = await findWorkflow(client, required(wanted, 'WORKFLOW'))
  const given = { workflow_id, input: readInput(input) }
  const start = kind === 'system' ? client.runSystemWorkflow : client.runWorkflow
  const { execution_id } = await start(given, { idempotencyKey: randomUUID() })
  if (!wait) return print(execution_id)
  // Whatever becomes of the waiting, it can be looked for.
  console.error(execution_id)
  const { status, results, error } = await waitForExecution(client, execution_id)
  print(JSON.stringify({ execution_id, status, results, error }, null, 2))
  if (status !== 'succeeded') process.exitCode = 1
}

const line = ({ seq, type, at, data }: { seq: number; type: string; at: string; data: unknown }): string =>
  `${at}  ${String(seq).padStart(5)}  ${type.padEnd(22)}  ${JSON.stringify(data)}`
const isEnd = (type: string): boolean => /^execution\.(succeeded|failed|cancelled|timed_out)$/.test(type)

const logs: Command = async ([wanted], { follow, workspace }) => {
  const client = clientFromEnvironment({ workspace })
  const execution_id = required(wanted, 'EXECUTION')
  let last = 0
  let over = false
  for await (const event of all(client.listExecutionEvents, { execution_id, limit: 200 })) {
    print(line(event))
    last = event.seq
    over ||= isEnd(event.type)
  }
  if (!follow || over) return
  await new Promise<void>((resolve, reject) => {
    const watching = watchExecution(client, execution_id, {
      after: last,
      onFrame(frame: Frame) {
        print(line(frame))
        if (!isEnd(frame.type)) return
        watching.close()
        resolve()
      },
      onState: (state, reason) => state === 'ended' && reject(new Error(reason)),
    })
  })
}

const exportWorkflow: Command = async ([wanted], { to, workspace }) => {
  const client = clientFromEnvironment({ workspace })
  const workflow = await findWorkflow(client, required(wanted, 'WORKFLOW'))
  const { document, warnings = [] } = await client.exportWorkflow({ workflow_id: workflow.workflow_id })
  for (const { path, message } of warnings) console.error(`${path} ${message}`)
  if (to === undefined) process.stdout.write(documentText(document))
  else writeFileSync(to, documentText(document))
}

const importWorkflow: Command = async ([file], { workflow, activate, note, workspace }) => {
  const client = clientFromEnvironment({ workspace })
  const document = JSON.parse(readFileSync(required(file, 'FILE'), 'utf8')) as Document
  if (workflow === undefined) {
    const made = await client.importWorkflow({ document })
    return print(String(made.workflow_id))
  }
  const { workflow_id } = await findWorkflow(client, workflow)
  const made = await client.importWorkflow({
    document,
    workflow_id,
    activate: activate ?? false,
    ...(note && { note }),
  })
  for (const { path, message } of made.warnings ?? []) console.error(`${path} ${message}`)
  const version = await client.getVersion({ workflow_id, version_id: String(made.version_id) })
  print(`${version.version_id}\tnumber ${version.number}${version.active ? ', active' : ''}`)
}

const marks: Record<Outcome, string> = {
  created: '+',
  changed: '~',
  same: '=',
  deleted: '-',
  only_here: '?',
  only_there: '?',
  conflict: '!',
  failed: '!',
}

const synced =
  (work: (client: Client, options: Options) => Promise<Line[]>): Command =>
  async ([directory], values) => {
    const client = clientFromEnvironment(values)
    const { 'dry-run': dryRun = false, force = false, json = false } = values
    const options = { directory: required(directory, 'DIR'), dryRun, force, delete: values.delete ?? false }
    const lines = await work(client, options)
    if (json) print(JSON.stringify({ dry_run: dryRun, workflows: lines }, null, 2))
    else
      for (const { file, name, outcome, message } of lines)
        print(`${marks[outcome]} ${outcome.padEnd(10)} ${file || name}${message ? `\t${message}` : ''}`)
    process.exitCode = exitCodeOf(lines, dryRun)
  }

export const commands: Record<string, Command> = {
  login,
  list,
  run,
  logs,
  export: exportWorkflow,
  import: importWorkflow,
  pull: synced(pull),
  push: synced(push),
  'rotate-key': rotateKey,
}
