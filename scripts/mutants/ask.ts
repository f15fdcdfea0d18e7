import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Answer, Question } from './host.ts'

// One process that answers all questions. It is replaced after a mutant made it crash, and at regular intervals because
// loaded modules are never freed.

const MAX_QUESTIONS = 200
const MAX_HEAP_MB = 700

let host: ChildProcess | undefined
let asked = 0

export async function close(): Promise<void> {
  const old = host
  host = undefined
  asked = 0
  if (!old?.connected) return
  old.disconnect()
  await once(old, 'exit')
}

/**
 * Returns the result of the tests. A process that crashed, or that ended itself because the tests ran forever, counts
 * as a failing test.
 */
export async function ask(question: Question): Promise<Answer> {
  if (asked >= MAX_QUESTIONS) await close()
  asked += 1
  host ??= fork(join(import.meta.dirname, 'host.ts'), [], {
    execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const child = host
  return new Promise((resolve) => {
    const answered = (answer: Answer): void => {
      child.off('exit', died)
      resolve(answer)
    }
    const died = (): void => {
      child.off('message', answered)
      host = undefined
      asked = 0
      resolve({ failed: 'the tests never ended', costs: {}, imports: [] })
    }
    child.once('message', answered)
    child.once('exit', died)
    child.send(question)
  })
}
