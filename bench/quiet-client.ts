import { type Answer, type Clients, sendLoad } from './open-loop.ts'

// The quiet client of bench/overload.ts, in a separate process: sends the given requests and returns the responses with
// the times at which the requests were sent, on the clock of the machine.

export type QuietTask = { base: string; requests: Uint8Array[]; rate: number; clients: Clients }
export type QuietAnswer = Answer & { sentAt: number }

if (import.meta.main)
  process.once('message', async ({ base, requests, rate, clients }: QuietTask) => {
    const bytes = requests.map((request) => Buffer.from(request))
    const answers = await sendLoad(new URL(base), bytes, rate, clients, () => process.send!('begun'))
    process.send!(
      answers.map((answer): QuietAnswer => ({ ...answer, sentAt: performance.timeOrigin + answer.at - answer.ms })),
    )
  })
