import { expect, test } from 'vitest'
import { countListening, makeAllowances } from './allowances.ts'

// Usage counting in one process, with a database whose responses the test controls.

const WORKSPACE = 'w'

const make = (query: (text: string) => Promise<{ rows: object[] }>, quotas: object = { mails_per_minute: 60 }) =>
  makeAllowances({
    db: {
      appPool: { query: (asked: string | { text: string }) => query(typeof asked === 'string' ? asked : asked.text) },
    } as never,
    log: { debug: () => {} } as never,
    quotasOf: async () => quotas as never,
    cpuSecondsPerMinute: 60,
    now: () => Date.UTC(2026, 10, 17, 12),
  })

test('simultaneous spends do not exceed the quota', async () => {
  const allowances = make(async () => ({ rows: [] }))
  const spent = await Promise.allSettled(
    Array.from({ length: 20 }, () => allowances.spend(WORKSPACE, 'mails_per_minute', 50)),
  )
  expect(spent.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('simultaneous transcriptions do not exceed the quota, and a clip longer than the quota needs all of it', async () => {
  const heardWith = async (limit: number, duration_s: number) => {
    const allowances = make(async () => ({ rows: [] }), { transcription_s_per_minute: limit })
    let listened = 0
    const listen = async (): Promise<void> => void listened++
    const inspect = async () => ({ duration_s })
    const all = Array.from({ length: 20 }, () => countListening(allowances, WORKSPACE, { inspect, listen }))
    const refused = (await Promise.allSettled(all)).filter(({ status }) => status === 'rejected')
    expect(refused[0]).toMatchObject({ reason: { code: 'quota_exceeded' } })
    return { listened, refused: refused.length }
  }
  expect(await heardWith(1_800, 599.2)).toEqual({ listened: 3, refused: 17 })
  expect(await heardWith(300, 400)).toEqual({ listened: 1, refused: 19 })
})

test('counters that were read during a write are read again', async () => {
  const written: string[] = []
  const reads: { answer(): void }[] = []
  const allowances = make(async (text) => {
    if (!text.includes('usage_of')) {
      written.push(text)
      return { rows: [] }
    }
    // The query reads the value when it is sent; the test decides when the response arrives.
    const used = written.length * 50
    const { promise, resolve } = Promise.withResolvers<void>()
    reads.push({ answer: resolve })
    await promise
    return { rows: [{ quota: 'mails_per_minute', used }] }
  })
  const early = allowances.spend(WORKSPACE, 'mails_per_minute', 50)
  const late = allowances.spend(WORKSPACE, 'mails_per_minute', 50)
  await expect.poll(() => reads.length).toBe(2)
  reads[0]!.answer()
  await early
  await allowances.flush()
  reads[1]!.answer()
  await expect(late).rejects.toMatchObject({ code: 'quota_exceeded' })
})
