import type { z } from 'zod'
import { member, owner, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import {
  addDocument,
  type DocumentParts,
  getDocument,
  getDocumentText,
  listDocuments,
  reindexDocument,
  removeDocument,
} from './documents.ts'
import type {
  KnowledgePatch as KnowledgePatchInput,
  NewDocument as NewDocumentInput,
  NewKnowledge as NewKnowledgeInput,
  SearchRequest as SearchInput,
} from './schema.ts'
import {
  DocumentText,
  documentList,
  Knowledge,
  KnowledgeDocument,
  KnowledgePatch,
  knowledgeList,
  NewDocument,
  NewKnowledge,
  Passages,
  SearchRequest,
  textQuery,
} from './schema.ts'
import { type SearchParts, searchForCaller } from './search.ts'
import {
  type ById,
  createKnowledge,
  deleteKnowledge,
  getKnowledge,
  type KnowledgeParts,
  listKnowledge,
  updateKnowledge,
} from './service.ts'

export const knowledgeRoutes = (parts: KnowledgeParts & DocumentParts & SearchParts): AnyRoute[] =>
  routes(
    'Knowledge',
    {
      listKnowledge: ['GET', '/api/knowledge', viewer('workspace')],
      createKnowledge: ['POST', '/api/knowledge', member('workspace')],
      getKnowledge: ['GET', '/api/knowledge/:knowledge_id', viewer('owned_knowledge')],
      updateKnowledge: ['PATCH', '/api/knowledge/:knowledge_id', member('knowledge')],
      deleteKnowledge: ['DELETE', '/api/knowledge/:knowledge_id', owner('owned_knowledge')],
      searchKnowledge: ['POST', '/api/knowledge/:knowledge_id/search', viewer('knowledge'), 'read'],
      listKnowledgeDocuments: ['GET', '/api/knowledge/:knowledge_id/documents', viewer('knowledge')],
      addKnowledgeDocument: ['POST', '/api/knowledge/:knowledge_id/documents', member('knowledge')],
      getKnowledgeDocument: ['GET', '/api/knowledge/:knowledge_id/documents/:document_id', viewer('knowledge')],
      removeKnowledgeDocument: ['DELETE', '/api/knowledge/:knowledge_id/documents/:document_id', member('knowledge')],
      getKnowledgeText: ['GET', '/api/knowledge/:knowledge_id/documents/:document_id/text', viewer('knowledge')],
      reindexKnowledgeDocument: [
        'POST',
        '/api/knowledge/:knowledge_id/documents/:document_id/reindex',
        member('knowledge'),
      ],
    },
    {
      listKnowledge: {
        summary:
          'The knowledge bases that you own, that are shared with you, and for owners of the workspace all of them',
        extension: true,
        query: knowledgeList.query,
        answer: page(Knowledge),
        run: listKnowledge,
      },
      createKnowledge: {
        summary: 'Create a knowledge base',
        extension: true,
        body: NewKnowledge,
        answer: Knowledge,
        status: 201,
        location: ({ knowledge_id }) => `/api/knowledge/${knowledge_id}`,
        examples: { body: { name: 'Handbook', language: 'english', shared: [{ kind: 'workspace', role: 'use' }] } },
        run: (ctx: Context, input: NewKnowledgeInput) => createKnowledge(parts, ctx, input),
      },
      getKnowledge: { summary: 'One knowledge base', extension: true, answer: Knowledge, run: getKnowledge },
      updateKnowledge: {
        summary: 'Change a knowledge base',
        description:
          'A change of the language or the embedding model indexes all documents again, in the background. Only its owner can share it, transfer it and choose the embedding model.',
        extension: true,
        body: KnowledgePatch,
        answer: Knowledge,
        current: getKnowledge,
        examples: { body: { language: 'german' } },
        run: (ctx: Context, input: ById & KnowledgePatchInput) => updateKnowledge(parts, ctx, input),
      },
      deleteKnowledge: {
        summary: 'Delete a knowledge base with all its documents',
        extension: true,
        status: 204,
        current: getKnowledge,
        run: deleteKnowledge,
      },
      searchKnowledge: {
        summary: 'The passages that fit a question, best first, with the place of each',
        description:
          'Ranked by the words of the question and, if the base has an embedding model, by meaning. `from` and `to` are the positions of the passage in the text of its document.',
        extension: true,
        body: SearchRequest,
        answer: Passages,
        transaction: false,
        idempotency: 'none',
        examples: { body: { q: 'How long are invoices kept?', limit: 5 } },
        run: (ctx: Context, input: ById & SearchInput) => searchForCaller(parts, ctx, input),
      },
      listKnowledgeDocuments: {
        summary: 'The documents of a knowledge base, newest first',
        extension: true,
        query: documentList.query,
        answer: page(KnowledgeDocument),
        run: listDocuments,
      },
      addKnowledgeDocument: {
        summary: 'Add a document: a text, an uploaded file, columns of a dataset, or a page',
        description:
          'It is indexed in the background; `status` says how far it is. With `crawl`, pages of the same host that the page links to are added too, each as a document.',
        extension: true,
        body: NewDocument,
        answer: KnowledgeDocument,
        status: 201,
        location: ({ knowledge_id, document_id }) => `/api/knowledge/${knowledge_id}/documents/${document_id}`,
        examples: { body: { name: 'Opening hours', text: '# Opening hours\n\nMonday to Friday, 9 to 17.' } },
        run: (ctx: Context, input: ById & NewDocumentInput) => addDocument(parts, ctx, input),
      },
      getKnowledgeDocument: {
        summary: 'One document',
        extension: true,
        answer: KnowledgeDocument,
        run: getDocument,
      },
      removeKnowledgeDocument: {
        summary: 'Remove a document, and the pages that its crawl found',
        extension: true,
        status: 204,
        current: getDocument,
        run: removeDocument,
      },
      getKnowledgeText: {
        summary: 'The text of a document, or a part of it',
        extension: true,
        query: textQuery,
        answer: DocumentText,
        run: (ctx: Context, input: ById & { document_id: string } & z.output<typeof textQuery>) =>
          getDocumentText(ctx, input),
      },
      reindexKnowledgeDocument: {
        summary: 'Index a document again; datasets and pages are read again',
        extension: true,
        answer: KnowledgeDocument,
        allowed: getDocument,
        run: reindexDocument,
      },
    },
  )
