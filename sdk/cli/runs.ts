import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { waitForExecution } from '../executions.ts'
import { all } from '../lists.ts'
import type { Frame } from '../sockets.ts'
import { watchExecution } from '../sockets.ts'
import { type Command, EXIT, isSet, type Out, textOf, UsageError } from './command.ts'
import { clientFromEnvironment } from './credentials.ts'
import { findWorkflow } from './workflows.ts'

function readInput(given: string | undefined): Record<string, unknown> {
  if (given === undefined) return {}
  const text = given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (error) {
    throw new UsageError(`--input is not JSON: ${(error as Error).message}`)
  }
}

export const run: Command = {
  words: ['WORKFLOW'],
  about:
    'Start a workflow and print the id of the execution. With --wait, wait for its end and print the execution as JSON.',
  options: {
    input: { type: 'string', value: 'JSON|@FILE', about: 'the input; default: {}' },
    wait: { type: 'boolean', about: 'wait until it ends; the exit code is 1 unless it succeeded' },
  },
  async run([wanted], values, out) {
    const input = readInput(textOf(values, 'input'))
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    const { workflow_id, kind } = await findWorkflow(client, wanted!)
    const start = kind === 'system' ? client.runSystemWorkflow : client.runWorkflow
    const started = await start({ workflow_id, input }, { idempotencyKey: randomUUID() })
    const { execution_id } = started
    if (!isSet(values, 'wait')) {
      out.show({ execution_id, status: started.status }, execution_id)
      return
    }
    // The id is printed first, so that the execution can be found even if waiting fails.
    out.note(execution_id)
    const { status, results, error } = await waitForExecution(client, execution_id)
    const ended = { execution_id, status, results, error }
    out.show(ended, JSON.stringify(ended, null, 2))
    return status === 'succeeded' ? EXIT.done : EXIT.failed
  },
}

type Entry = { seq: number; type: string; at: string; data: unknown }
const print = (out: Out, entry: Entry): void => {
  const { seq, type, at, data } = entry
  out.each({ seq, type, at, data }, `${at}  ${String(seq).padStart(5)}  ${type.padEnd(22)}  ${JSON.stringify(data)}`)
}
const isEnd = (type: string): boolean => /^execution\.(succeeded|failed|cancelled|timed_out)$/.test(type)

export const logs: Command = {
  words: ['EXECUTION'],
  about: 'Print the journal of an execution, oldest first. With --json, one JSON object on each line.',
  options: { follow: { type: 'boolean', short: 'f', about: 'keep printing until the execution ends' } },
  async run([wanted], values, out) {
    const client = clientFromEnvironment({ workspace: textOf(values, 'workspace') })
    const execution_id = wanted!
    let last = 0
    let over = false
    for await (const event of all(client.listExecutionEvents, { execution_id, limit: 200 })) {
      print(out, event)
      last = event.seq
      over ||= isEnd(event.type)
    }
    if (!isSet(values, 'follow') || over) return
    await new Promise<void>((resolve, reject) => {
      const watching = watchExecution(client, execution_id, {
        after: last,
        onFrame(frame: Frame) {
          print(out, frame)
          if (!isEnd(frame.type)) return
          watching.close()
          resolve()
        },
        onState: (state, reason) => state === 'ended' && reject(new Error(reason)),
      })
    })
  },
}
