import { expect, test } from 'vitest'
import { makePeers } from '../peers.ts'
import { makeMetrics, mergeMetrics } from './metrics.ts'

test('metrics of several processes are merged into one text, with one help line per metric', () => {
  const text = (process: number): string =>
    `# HELP a Of a\n# TYPE a counter\na{process="${process}"} ${process}\n\n# HELP b Of b\n# TYPE b gauge\nb{process="${process}"} 0\n`
  expect(mergeMetrics([text(1), text(2)])).toBe(
    '# HELP a Of a\n# TYPE a counter\na{process="1"} 1\na{process="2"} 2\n\n' +
      '# HELP b Of b\n# TYPE b gauge\nb{process="1"} 0\nb{process="2"} 0\n',
  )
})

test('the metrics of a single process have no process label', async () => {
  const { text } = makeMetrics()
  expect(await text()).toMatch(/^process_resident_memory_bytes \d/m)
})

test('a process that does not answer is left out', async () => {
  const heard: ((message: never) => void)[] = []
  const peers = makePeers(
    { index: 2, count: 3 },
    {
      send: (message) => {
        if (message.kind === 'ask')
          for (const hear of heard) hear({ kind: 'answers', id: message.id, values: [] } as never)
      },
      onMessage: (handle) => void heard.push(handle as never),
    },
  )
  expect(await makeMetrics(peers).text()).toMatch(/^process_resident_memory_bytes\{process="2"\} \d/m)
})
