import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { callService } from '#engine/services/call'
import type { Json } from '#model/definition'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { serviceCatalogue } from '#providers/services/catalogue'
import { median, percentile } from './database.ts'

// Measures the additional cost of a service action compared with the same request sent directly, with a server on this
// machine, in alternating pairs. `scripts/pieces-run.ts` measures pieces.

const PAIRS = Number(process.env.PAIRS ?? 3_000)
const WARM_UP = 300

const vendor = createServer((request, response) => {
  request.resume().on('end', () => {
    const answer = { ok: true, channel: 'C1', ts: '1700000000.000100', message: { text: 'Hello', user: 'U1' } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
})
await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(vendor.address() as AddressInfo).port}`
const real = makeOutgoing({ allowTargets: [host] })

type Asked = Parameters<typeof real.request>[0]
let sent: Asked | undefined
const outgoing = {
  request: ((asked: Asked) => {
    sent = { ...asked, url: asked.url.replace(/^https:\/\/[^/]+/, `http://${host}`) }
    return real.request(sent)
  }) as typeof real.request,
}

const service = serviceCatalogue().get('slack')!
const action = service.actions.get('send_message')!
const byManifest = (): Promise<Json> =>
  callService(
    { outgoing, files: undefined as never, conversion: undefined as never },
    { service, action, args: { channel: 'C1', text: 'Hello' }, credential: undefined },
    {
      workspaceId: 'bench',
      executionId: 'bench',
      effectKey: 'bench',
      signal: AbortSignal.timeout(60_000),
      step: <T extends Json>(_name: string, work: () => Promise<T>): Promise<T> => work(),
      progress: () => {},
    },
  )
const byHand = async (): Promise<unknown> =>
  JSON.parse((await real.request({ ...sent!, signal: AbortSignal.timeout(60_000) })).body.toString())

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now()
  await work()
  return performance.now() - from
}
const manifest: number[] = []
const hand: number[] = []
for (let n = -WARM_UP; n < PAIRS; n += 1) {
  const took = { manifest: await timed(byManifest), hand: await timed(byHand) }
  if (n < 0) continue
  manifest.push(took.manifest)
  hand.push(took.hand)
}
vendor.close()

const ms = (value: number): number => Number(value.toFixed(2))
const figures = {
  pairs: PAIRS,
  by_hand: { p50_ms: ms(median(hand)), p99_ms: ms(percentile(hand, 99)) },
  by_manifest: { p50_ms: ms(median(manifest)), p99_ms: ms(percentile(manifest, 99)) },
  added: {
    p50_ms: ms(median(manifest) - median(hand)),
    p99_ms: ms(percentile(manifest, 99) - percentile(hand, 99)),
  },
}
console.log(JSON.stringify(figures, null, 2))
process.exit(0)
