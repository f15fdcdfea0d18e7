import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { percentile, startBenchDatabase } from './database.ts'
import { makeBenchPerson, post, startBenchService } from './world.ts'

// Checks whether a search finds the passage that answers a question: 100 questions about this product, as people would
// ask them, over docs/. A passage counts if it belongs to the right document and contains the words of the answer.
// Questions use other words than the document where a person would. Full text alone, without a language model.

type Question = [question: string, file: string, answer: string]
type Passage = { document_name: string; text: string }

const docs = join(import.meta.dirname, '../docs')
const questions = JSON.parse(readFileSync(join(import.meta.dirname, 'retrieval-questions.json'), 'utf8')) as Question[]

const database = await startBenchDatabase()
const service = await startBenchService(database)
const { key } = await makeBenchPerson(database)

const { knowledge_id } = await post(service.base, '/api/knowledge', key, { name: 'Docs', language: 'english' })
const names = ['', 'decisions/'].flatMap((folder) =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => folder + name),
)
const began = performance.now()
for (const name of names)
  await post(service.base, `/api/knowledge/${knowledge_id}/documents`, key, {
    name,
    text: readFileSync(join(docs, name), 'utf8'),
  })
for (;;) {
  const answer = await fetch(`${service.base}/api/knowledge/${knowledge_id}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  if (((await answer.json()) as { waiting_count: number }).waiting_count === 0) break
  await new Promise((resolve) => setTimeout(resolve, 50))
}
const indexedIn = performance.now() - began

const flat = (text: string): string => text.replace(/\s+/g, ' ')
const ranks: number[] = []
const times: number[] = []
for (const [q, file, answer] of questions) {
  const from = performance.now()
  const { passages } = (await post(service.base, `/api/knowledge/${knowledge_id}/search`, key, {
    q,
    limit: 10,
  })) as unknown as { passages: Passage[] }
  times.push(performance.now() - from)
  const rank = passages.findIndex(
    (passage) => passage.document_name === file && flat(passage.text).includes(flat(answer)),
  )
  ranks.push(rank)
  if ((rank < 0 || rank >= 5) && process.env.MISSES)
    console.error(
      `${rank} ${q} (${file})\n   ${passages
        .slice(0, 5)
        .map(({ document_name, text }) => `${document_name}: ${flat(text).slice(0, 90)}`)
        .join('\n   ')}`,
    )
}
const within = (most: number): number => ranks.filter((rank) => rank >= 0 && rank < most).length / ranks.length
const round = (value: number, digits = 3): number => Number(value.toFixed(digits))

console.log(
  JSON.stringify(
    {
      documents: names.length,
      questions: questions.length,
      'recall@1': round(within(1)),
      'recall@5': round(within(5)),
      'recall@10': round(within(10)),
      'mean reciprocal rank': round(
        ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / (rank + 1)), 0) / ranks.length,
      ),
      'indexed in ms': round(indexedIn, 0),
      'search p50 ms': round(percentile(times, 50), 1),
      'search p99 ms': round(percentile(times, 99), 1),
    },
    null,
    2,
  ),
)
service.stop()
await database.stop()
