import { lowerThreads } from '#platform/priority'
import { type Answer, type Clients, sendLoad } from './open-loop.ts'

// A client of bench/overload.ts in a separate process: sends the given requests and returns the responses with the times
// at which the requests were sent, on the clock of the machine. Reports that time when it begins.

export type QuietTask = { base: string; requests: Uint8Array[]; rate: number; clients: Clients; niceness?: number }
export type QuietAnswer = Answer & { sentAt: number }

if (import.meta.main)
  process.once('message', async ({ base, requests, rate, clients, niceness = 0 }: QuietTask) => {
    if (niceness > 0) lowerThreads(niceness)
    const bytes = requests.map((request) => Buffer.from(request))
    const answers = await sendLoad(new URL(base), bytes, rate, clients, () =>
      process.send!(performance.timeOrigin + performance.now()),
    )
    process.send!(
      answers.map((answer): QuietAnswer => ({ ...answer, sentAt: performance.timeOrigin + answer.at - answer.ms })),
    )
  })
