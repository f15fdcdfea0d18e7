import { type Answer, type Clients, press } from './press.ts'

// The quiet client of bench/overload.ts, in a separate process: sends the given requests and returns the responses with
// the times at which the requests were sent, on the clock of the machine.

export type Asked = { base: string; requests: Uint8Array[]; rate: number; clients: Clients }
export type Calm = Answer & { sentAt: number }

if (import.meta.main)
  process.once('message', async ({ base, requests, rate, clients }: Asked) => {
    const bytes = requests.map((request) => Buffer.from(request))
    const answers = await press(new URL(base), bytes, rate, clients, () => process.send!('begun'))
    process.send!(
      answers.map((answer): Calm => ({ ...answer, sentAt: performance.timeOrigin + answer.at - answer.ms })),
    )
  })
