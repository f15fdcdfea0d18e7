import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, makeClient } from '#sdk/client'
import { waitForExecution } from '#sdk/executions'
import type { Execution } from '#sdk/types.generated'
import type { Workflow } from './build.ts'

// Runs workflows in code on a separate Heddle for the test.

export type LocalHeddle = {
  readonly client: Client
  /**
   * Publishes the workflow and runs it. Resolves when the execution has ended or, with `until: 'waiting'`, waits for a
   * person.
   */
  run<Input>(workflow: Workflow<Input>, input: Input, options?: { until?: 'finished' | 'waiting' }): Promise<Execution>
  stop(): Promise<void>
}

const over = (client: Client, stop: () => Promise<void>): LocalHeddle => ({
  client,
  async run(workflow, input, { until = 'finished' } = {}) {
    const { workflow_id } = await client.createWorkflow({
      name: workflow.name,
      definition: { ...workflow.definition() },
    })
    const { execution_id } = await client.runWorkflow({ workflow_id, input: input as Record<string, unknown> })
    return waitForExecution(client, execution_id, { until })
  },
  stop,
})

/** Starts `npx heddle` (or `command`) on a free port, in an empty directory that `stop` removes. */
export async function startHeddle(options: { command?: [string, ...string[]] } = {}): Promise<LocalHeddle> {
  const { HEDDLE_BASE, HEDDLE_KEY } = process.env
  if (HEDDLE_BASE && HEDDLE_KEY) return over(makeClient({ baseUrl: HEDDLE_BASE, token: HEDDLE_KEY }), async () => {})
  const [program, ...words] = options.command ?? ['npx', 'heddle']
  const directory = await mkdtemp(join(tmpdir(), 'heddle-'))
  const env = { ...process.env, PORT: '0', HEDDLE_DATA_DIR: join(directory, 'data') }
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGINT')
    await gone
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const { baseUrl, token } = await readyLines(child.stdout, gone)
    return over(makeClient({ baseUrl, token }), stop)
  } catch (error) {
    await stop()
    throw error
  }
}

/** Reads the address and the demo key, which the first start prints. */
function readyLines(output: NodeJS.ReadableStream, gone: Promise<void>): Promise<{ baseUrl: string; token: string }> {
  return new Promise((resolve, reject) => {
    let text = ''
    output.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const baseUrl = /heddle ready on (\S+)/.exec(text)?.[1]
      const token = /API key: (hk_\S+)/.exec(text)?.[1]
      if (baseUrl && token) resolve({ baseUrl, token })
    })
    void gone.then(() => reject(new Error('Heddle stopped before it was ready; see its log for the reason.')))
  })
}
