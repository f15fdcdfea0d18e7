import { type NodeCall, NodeFailure, type NodeKind } from '#engine/node'
import { checked, fields } from '#engine/nodes/kind'
import type { Json } from '#model/definition'
import type { Tx } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { fromWire, toWire, UNKNOWN_ID } from '#platform/ids'
import { addText, type DocumentParts } from './documents.ts'
import { mayEdit, mayRead } from './rights.ts'
import { MAX_TEXT, type Passage } from './schema.ts'
import { type SearchParts, searchKnowledge } from './search.ts'
import { findRole, type Role } from './store.ts'

const MAX_PASSAGES = 50
const DEFAULT_PASSAGES = 5

export type KnowledgeNodeParts = SearchParts & {
  /** Returns the person for whom an execution acts. */
  findPrincipal(tx: Tx, workspaceId: string, executionId: string): Promise<{ user_id: string } | undefined>
}

/** The appearance of both nodes in the editor. */
const look = { kind: 'tool', group: 'data', icon: 'book-open', colour: '#0f766e' } as const
const knowledgeField = { type: 'string', title: 'Knowledge base', minLength: 1, 'x-id': 'kb' }
const idOf = (given: Json | undefined): string => fromWire('kb', String(given)) ?? UNKNOWN_ID

const passageSchema = {
  type: 'object',
  properties: {
    document_id: { type: 'string' },
    document_name: { type: 'string' },
    url: { type: ['string', 'null'] },
    heading: { type: 'array', items: { type: 'string' } },
    text: { type: 'string' },
    from: { type: 'integer' },
    to: { type: 'integer' },
    score: { type: 'number' },
  },
}

export const makeKnowledgeSearch = (parts: KnowledgeNodeParts): NodeKind =>
  checked({
    descriptor: {
      type: 'knowledge.search',
      ...look,
      title: 'Search knowledge',
      description: 'Finds the passages of a knowledge base that match a question, with the location of each.',
      keywords: ['knowledge', 'documents', 'retrieval', 'rag', 'answer', 'cite', 'find'],
      args_schema: fields(
        {
          knowledge_id: knowledgeField,
          q: {
            type: 'string',
            title: 'Question',
            description: 'A question or keywords',
            minLength: 1,
            maxLength: 1_000,
          },
          limit: { type: 'integer', title: 'Limit', minimum: 1, maximum: MAX_PASSAGES, default: DEFAULT_PASSAGES },
        },
        ['knowledge_id', 'q'],
      ),
      output_schema: {
        type: 'object',
        properties: { passages: { type: 'array', items: passageSchema }, ranked_by: { type: 'string' } },
      },
      ports: ['out'],
      effect: 'pure',
      defaults: { knowledge_id: '', q: '' },
    },
    async run(call) {
      const { args, workspaceId, signal, executionId, principalId, nodePath } = call
      const knowledgeId = idOf(args.knowledge_id)
      await requireReader(parts, call, knowledgeId)
      const found = await searchKnowledge(parts, {
        workspaceId,
        knowledgeId,
        q: String(args.q),
        limit: Number(args.limit ?? DEFAULT_PASSAGES),
        signal,
        asker: { principal: { executionId, principalId }, nodePath },
      }).catch((error: unknown) => {
        throw isProblem(error, 'not_found') ? notAllowed() : error
      })
      return { output: { passages: found.passages.map(onTheWire), ranked_by: found.ranked_by } }
    },
  })

const notAllowed = (what = 'read it'): NodeFailure =>
  new NodeFailure(
    'knowledge_not_allowed',
    `the knowledge base does not exist, or the person whose rights this execution uses may not ${what}; its owner can share it`,
    { retryable: false },
  )

type Asking = Pick<KnowledgeNodeParts, 'db' | 'findPrincipal'>

/**
 * Returns the person who may access the base, as with credentials: the principal stored with the execution, or else the
 * person who replaces them.
 */
async function personWho(
  { findPrincipal }: Asking,
  tx: Tx,
  { workspaceId, executionId, principalId }: NodeCall,
  knowledgeId: string,
  may: (role: Role | undefined) => boolean,
): Promise<string | undefined> {
  const roleOf = (userId: string) => findRole(tx, workspaceId, knowledgeId, userId)
  if (principalId !== null && may(await roleOf(principalId))) return principalId
  const principal = await findPrincipal(tx, workspaceId, executionId)
  return principal !== undefined && may(await roleOf(principal.user_id)) ? principal.user_id : undefined
}

async function requireReader(parts: KnowledgeNodeParts, call: NodeCall, knowledgeId: string): Promise<void> {
  const reader = await parts.db.tenant({ workspaceId: call.workspaceId, userId: null }, (tx) =>
    personWho(parts, tx, call, knowledgeId, mayRead),
  )
  if (reader === undefined) throw notAllowed()
}

export type KnowledgeAddParts = Asking & Pick<DocumentParts, 'checkDocuments'>

export const makeKnowledgeAdd = (parts: KnowledgeAddParts): NodeKind =>
  checked({
    descriptor: {
      type: 'knowledge.add',
      ...look,
      title: 'Add to knowledge',
      description: 'Adds a text to a knowledge base as a document. Searches find it once it has been indexed.',
      keywords: ['knowledge', 'documents', 'index', 'rag', 'embed', 'store', 'vector'],
      args_schema: fields(
        {
          knowledge_id: knowledgeField,
          text: { type: 'string', title: 'Text', minLength: 1, maxLength: MAX_TEXT, 'x-editor': 'text' },
          name: { type: 'string', title: 'Name', description: 'Default: its first line', minLength: 1, maxLength: 200 },
        },
        ['knowledge_id', 'text'],
      ),
      output_schema: {
        type: 'object',
        properties: { document_id: { type: 'string' }, name: { type: 'string' } },
      },
      ports: ['out'],
      effect: 'at_most_once',
      defaults: { knowledge_id: '', text: '' },
    },
    async run(call) {
      const { args, workspaceId } = call
      const knowledgeId = idOf(args.knowledge_id)
      const name = typeof args.name === 'string' && args.name.trim() !== '' ? args.name.trim() : undefined
      const made = await parts.db
        .tenant({ workspaceId, userId: null }, async (tx) => {
          const userId = await personWho(parts, tx, call, knowledgeId, mayEdit)
          if (userId === undefined) throw notAllowed('change it')
          return addText(parts, tx, { workspaceId, knowledgeId, userId, name, text: String(args.text) })
        })
        .catch((error: unknown) => {
          if (!isProblem(error, 'quota_exceeded')) throw error
          throw new NodeFailure('quota_exceeded', error.message, { retryable: false, nothingDone: true })
        })
      return { output: { document_id: toWire('doc', made.document_id), name: made.name } }
    },
  })

export const onTheWire = (passage: Passage): Json => ({
  ...passage,
  document_id: toWire('doc', passage.document_id),
})
