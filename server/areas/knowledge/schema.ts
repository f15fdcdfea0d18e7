import { z } from 'zod'
import { NewShare } from '#areas/teams/personal-shares'
import { anyId, anyOf, defineList } from '#platform/http/list'
import { id, jsonObject, name, reference, timestamp } from '#platform/http/schema'

export const languages = ['german', 'english', 'french', 'spanish', 'norwegian', 'simple'] as const
export type Language = (typeof languages)[number]

const Share = z.object({
  kind: z.enum(['user', 'team', 'workspace']),
  id: z.string().optional().describe('Of the person or the team'),
  role: z.enum(['use', 'edit']).describe('`use` searches and reads, `edit` also changes'),
})

const Embeddings = z.object({
  credential_id: id('cred')
    .nullable()
    .describe(
      'A credential of the kind `llm`: an OpenAI-compatible address, or Google. Null: the installation’s own model',
    ),
  model: z.string().describe('The model that turns passages into vectors'),
})

export const Knowledge = z
  .object({
    knowledge_id: id('kb'),
    name: z.string(),
    description: z.string().nullable(),
    language: z.enum(languages).describe('How words are reduced to their stems; `simple` leaves them as they are'),
    embeddings: Embeddings.nullable().describe('Null: searches use the words of the texts alone'),
    owner_id: id('usr').nullable(),
    shared: z.array(Share),
    role: z
      .enum(['owner', 'edit', 'use', 'manage'])
      .describe('What the caller may do; `manage`: view and delete it, as an owner of the workspace'),
    document_count: z.int(),
    waiting_count: z.int().describe('Documents that are still to be indexed'),
    bytes: z.int().describe('Of the texts of all documents'),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Knowledge' })
export type Knowledge = z.input<typeof Knowledge>

const NewEmbeddings = z.strictObject({
  credential_id: reference('cred')
    .nullish()
    .describe('A credential of the kind `llm`. Null or absent: the installation’s own embedding model'),
  model: z.string().min(1).max(200).optional().describe('Needed with a credential'),
})
export type NewEmbeddings = z.output<typeof NewEmbeddings>

const fields = {
  name: name(),
  description: z.string().max(2_000).nullable().optional(),
  language: z.enum(languages).optional(),
  embeddings: NewEmbeddings.nullable().optional().describe('Null: searches use the words of the texts alone'),
  shared: z.array(NewShare).max(100).optional(),
}
export const NewKnowledge = z.strictObject(fields)
export type NewKnowledge = z.output<typeof NewKnowledge>
export const KnowledgePatch = z.strictObject({ ...fields, owner_id: reference('usr').optional() }).partial()
export type KnowledgePatch = z.output<typeof KnowledgePatch>

export const documentKinds = ['text', 'file', 'dataset', 'url'] as const
export const documentStates = ['pending', 'indexing', 'ready', 'failed'] as const

export const KnowledgeDocument = z
  .object({
    document_id: id('doc'),
    knowledge_id: id('kb'),
    name: z.string(),
    kind: z.enum(documentKinds),
    source: jsonObject().describe('The source of the text: the file, the dataset and its columns, or the address'),
    root_id: id('doc').nullable().describe('The document whose crawl found this page'),
    status: z.enum(documentStates).describe('Passages of an earlier version are searched until it is ready'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    bytes: z.int().describe('Of its text'),
    chunk_count: z.int().describe('How many passages it has'),
    created_by: id('usr').nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'KnowledgeDocument' })
export type KnowledgeDocument = z.input<typeof KnowledgeDocument>

/** Larger texts must be uploaded as files. */
export const MAX_TEXT = 1_000_000
export const MAX_CRAWL_PAGES = 200
export const MAX_CRAWL_DEPTH = 5
const MAX_COLUMNS = 50

const crawl = z.strictObject({
  max_pages: z.int().min(1).max(MAX_CRAWL_PAGES).describe('Pages at most, the first one included'),
  max_depth: z.int().min(0).max(MAX_CRAWL_DEPTH).default(2).describe('Links that may be followed one after the other'),
})

export const NewDocument = z
  .strictObject({
    name: name().optional(),
    text: z.string().min(1).max(MAX_TEXT).optional().describe('The text itself; Markdown headings structure it'),
    file: z
      .strictObject({ $file: z.looseObject({ file_id: reference('file') }) })
      .optional()
      .describe('A file that you uploaded: text, Markdown, HTML, PDF, CSV, XLSX, JSON or XML'),
    dataset: z
      .strictObject({
        dataset_id: reference('ds'),
        columns: z.array(z.string().min(1).max(200)).min(1).max(MAX_COLUMNS),
        title_column: z.string().min(1).max(200).optional().describe('Its value is the heading of each record'),
      })
      .optional()
      .describe('Columns of a dataset, a passage for each record'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional()
      .describe('A page'),
    crawl: crawl.optional().describe('Follows links of the page to others of the same host'),
  })
  .refine(
    ({ text, file, dataset, url }) => [text, file, dataset, url].filter((one) => one !== undefined).length === 1,
    'must have exactly one of text, file, dataset and url',
  )
  .refine(({ url, crawl: wanted }) => url !== undefined || wanted === undefined, {
    path: ['crawl'],
    message: 'is allowed only with url',
  })
export type NewDocument = z.output<typeof NewDocument>

export const knowledgeList = defineList({
  id: 'knowledge_id',
  search: ['name', 'description'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text' },
  order: '-created_at',
  filters: { owner_id: anyId('usr', 'Only knowledge bases of this owner') },
})

export const documentList = defineList({
  id: 'document_id',
  search: ['name'],
  sort: { created_at: 'id', updated_at: 'time', name: 'text', bytes: 'number' },
  order: '-created_at',
  filters: { status: anyOf(documentStates), kind: anyOf(documentKinds) },
})

export const textQuery = z.strictObject({
  from: z.coerce.number().int().min(0).max(100_000_000).default(0).describe('First character'),
  to: z.coerce.number().int().min(0).max(100_000_000).optional().describe('The character after the last'),
})
export const MAX_TEXT_PART = 100_000

export const DocumentText = z
  .object({
    text: z.string(),
    from: z.int(),
    to: z.int().describe(`At most ${MAX_TEXT_PART} characters after \`from\``),
    total: z.int().describe('Characters of the whole text'),
  })
  .meta({ id: 'DocumentText' })

export const SearchRequest = z.strictObject({
  q: z.string().trim().min(1).max(1_000).describe('A question or keywords'),
  limit: z.int().min(1).max(50).default(5).describe('Passages at most'),
})
export type SearchRequest = z.output<typeof SearchRequest>

export const Passage = z
  .object({
    document_id: id('doc'),
    document_name: z.string().describe('Of the document that contains it'),
    url: z.string().nullable().describe('Of the page that contains it'),
    position: z.int().describe('The number of the passage in its document'),
    from: z.int().describe('First character of the passage in the text of its document'),
    to: z.int().describe('The character after its last'),
    heading: z.array(z.string()).describe('The headings above it, outermost first'),
    text: z.string(),
    highlights: z
      .array(z.array(z.int()))
      .describe('The positions of words of the question, as pairs of offsets in `text`'),
    score: z.number().describe('Comparable within one answer only'),
  })
  .meta({ id: 'KnowledgePassage' })
export type Passage = z.input<typeof Passage>

export const Passages = z
  .object({
    passages: z.array(Passage).describe('Best first'),
    ranked_by: z.enum(['full_text', 'hybrid']).describe('`full_text` also if the embedding model did not answer'),
  })
  .meta({ id: 'KnowledgePassages' })
export type Passages = z.input<typeof Passages>
