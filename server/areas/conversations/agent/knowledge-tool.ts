import type { AgentTool } from '#engine/agents/tools'
import { problemsOf } from '#engine/agents/tools'
import type { Json, JsonObject } from '#model/definition'
import type { Database } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { toWire } from '#platform/ids'
import type { TurnContext } from './turn-context.ts'
import type { AgentPorts, Citation } from './types.ts'

const PASSAGES_EACH = 5
const MAX_PASSAGES = 8
const MAX_PASSAGE_TEXT = 2_500
const MAX_QUOTE = 300

const schema: JsonObject = {
  type: 'object',
  properties: { q: { type: 'string', description: 'A question or words to look for', minLength: 1, maxLength: 1_000 } },
  required: ['q'],
  additionalProperties: false,
}

/** Returns all citations of the turn so far. Steps survive a process, so a number keeps its meaning. */
export const citationsOf = ({ journal }: Pick<TurnContext, 'journal'>): Citation[] =>
  (journal.found({ end: '/citations' }) as unknown as Citation[][]).flat()

/** Searches all knowledge bases that the owner of the template may read at this moment. */
export function knowledgeTool(db: Database, ports: AgentPorts, context: TurnContext): AgentTool {
  const { workspace_id: workspaceId } = context.thread
  const { owner_id: ownerId, knowledge_ids } = context.voice

  const readable = (): Promise<string[]> =>
    db.tenant({ workspaceId, userId: null }, async (tx) => {
      const ids: string[] = []
      for (const id of knowledge_ids)
        if (await ports.mayReadKnowledge(tx, workspaceId, toWire('kb', id), ownerId)) ids.push(id)
      return ids
    })

  return {
    name: 'search_knowledge',
    title: 'search_knowledge',
    description:
      'Finds passages in the documents of this assistant. Search before you answer a question about facts. Cite what you use by its number, such as [1].',
    schema,
    effect: 'pure',
    check: (args) => problemsOf(schema, args),
    async run({ args, signal, step }) {
      const found = await Promise.all(
        (await readable()).map(async (knowledgeId) => {
          const wanted = { workspaceId, knowledgeId, q: String(args.q), limit: PASSAGES_EACH, signal }
          const { passages } = await ports.searchKnowledge(wanted).catch((error: unknown) => {
            if (isProblem(error, 'not_found')) return { passages: [] }
            throw error
          })
          return passages.map((passage, rank) => ({ ...passage, knowledgeId, rank }))
        }),
      )
      const best = found
        .flat()
        .sort((a, b) => a.rank - b.rank)
        .slice(0, MAX_PASSAGES)
      const before = citationsOf(context).length
      const citations = best.map(
        (passage, at): Citation => ({
          n: before + at + 1,
          knowledge_id: passage.knowledgeId,
          document_id: String(passage.document_id),
          title: passage.document_name,
          url: passage.url,
          heading: passage.heading,
          from: passage.from,
          to: passage.to,
          quote: passage.text.slice(0, MAX_QUOTE).toWellFormed().trim(),
        }),
      )
      await step('citations', async () => citations as unknown as Json)
      return {
        passages: citations.map(({ n, title, heading }, at) => ({
          n,
          document: title,
          heading: heading.join(' > '),
          text: best[at]!.text.slice(0, MAX_PASSAGE_TEXT),
        })),
      }
    },
  }
}
