import type { ExecutionError, Json } from '#model/definition'
import { type Expected, matches, OneOf } from './expected.ts'
import type { GraphEnd } from './model.ts'

/** The result of an execution. `port` is set if it is known. */
export type Ended = {
  status: string
  results: Json | undefined
  error: ExecutionError | null | undefined
  nodes: ReadonlyMap<
    string,
    { status: string; attempt: number; output: Json; port?: string; error?: ExecutionError | undefined }
  >
}

/** Returns the differences from the model, as text. */
export function differences(ended: Ended, end: GraphEnd): string[] {
  const fails = end.errors.length > 0
  const wrong: string[] = []
  const compare = (what: string, actual: Json | undefined, expected: Expected): void => {
    if (!matches(actual, expected))
      wrong.push(`${what} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`)
  }
  compare('status', ended.status, fails ? 'failed' : 'succeeded')
  if (fails) compare('error', (ended.error ?? null) as Json, new OneOf(end.errors))
  else compare('results', ended.results, end.results!)
  for (const [id, { status, output, port, attempt }] of Object.entries(end.nodes)) {
    const node = ended.nodes.get(id) ?? { status: 'skipped', attempt: 0, output: null }
    // Another failure may have ended the execution before this node started or ended.
    if (fails && (node.status === 'skipped' || node.error?.code === 'interrupted') && status !== 'skipped') continue
    compare(`status of ${id}`, node.status, status)
    compare(`attempt of ${id}`, node.attempt, attempt)
    compare(`output of ${id}`, node.output, output)
    if (port !== '' && node.port !== undefined) compare(`port of ${id}`, node.port, port)
  }
  return wrong
}
