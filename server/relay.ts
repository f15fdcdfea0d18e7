import type { ChildProcess } from 'node:child_process'
import { SECOND } from '#platform/clock'
import type { Downward, Upward } from '#platform/peers'

// Passes messages between the processes of one program through their supervisor.

/** The maximum wait for an answer: a process may be busy or about to end. */
const ANSWER_WITHIN = SECOND

export function makeRelay(all: () => ChildProcess[]) {
  const open = new Map<number, (value: unknown) => void>()
  let asked = 0

  const send = (child: ChildProcess, message: Downward): void => {
    if (child.connected) child.send(message, undefined, undefined, () => {})
  }

  const others = (child: ChildProcess): ChildProcess[] => all().filter((other) => other !== child && other.connected)

  const requestFrom = (child: ChildProcess, topic: string): Promise<unknown> =>
    new Promise((resolve) => {
      asked += 1
      const id = asked
      const settle = (value: unknown): void => {
        clearTimeout(late)
        open.delete(id)
        resolve(value)
      }
      const late = setTimeout(settle, ANSWER_WITHIN, undefined)
      open.set(id, settle)
      send(child, { kind: 'asked', id, topic })
    })

  return {
    connect(child: ChildProcess): void {
      child.on('message', async (message: Upward) => {
        if (message.kind === 'tell')
          for (const other of others(child)) send(other, { kind: 'told', topic: message.topic, value: message.value })
        else if (message.kind === 'answer') open.get(message.id)?.(message.value)
        else if (message.kind === 'ask') {
          const values = await Promise.all(others(child).map((other) => requestFrom(other, message.topic)))
          send(child, { kind: 'answers', id: message.id, values: values.filter((value) => value !== undefined) })
        }
      })
    },
  }
}
