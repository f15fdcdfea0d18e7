import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

// The share `use` makes a person the resource viewer, `edit` makes them the resource member. Other members do not learn
// that the knowledge base exists. Owners of the workspace can see and delete every knowledge base, but read only what
// is shared with them.

const looking = withChanges(rows.hiddenAnyMember, { workspaceOwner: 'ok' })
const reading = withChanges(rows.hiddenAnyMember, { workspaceOwner: 403 })
const changing = withChanges(rows.hiddenOwnerOrMember, { workspaceOwner: 403 })
const deleting = withChanges(rows.hiddenOwnerOnly, { workspaceOwner: 'ok' })

async function knowledge({ author, resourceViewer, resourceMember }: Cast) {
  const { body } = await author.call('POST', '/api/knowledge', {
    body: {
      name: 'Case',
      shared: [resourceViewer, resourceMember]
        .filter(({ id }) => id !== author.id)
        .map(({ id }, at) => ({ kind: 'user', id, role: at === 0 ? 'use' : 'edit' })),
    },
  })
  return { params: { knowledge_id: body.knowledge_id as string } }
}

async function document(cast: Cast) {
  const { params } = await knowledge(cast)
  const path = `/api/knowledge/${params.knowledge_id}/documents`
  const { body } = await cast.author.call('POST', path, { body: { text: 'A text' } })
  return { params: { ...params, document_id: body.document_id as string } }
}

export const knowledgeCases: Cases = {
  listKnowledge: { expect: rows.selectedRead },
  createKnowledge: { expect: rows.selectedWrite, prepare: async () => ({ body: { name: 'Case' } }) },
  getKnowledge: { expect: looking, prepare: knowledge },
  updateKnowledge: {
    expect: changing,
    prepare: async (cast) => ({ ...(await knowledge(cast)), body: { name: 'Renamed' } }),
  },
  deleteKnowledge: { expect: deleting, prepare: knowledge },
  searchKnowledge: { expect: reading, prepare: async (cast) => ({ ...(await knowledge(cast)), body: { q: 'text' } }) },
  listKnowledgeDocuments: { expect: reading, prepare: knowledge },
  addKnowledgeDocument: {
    expect: changing,
    prepare: async (cast) => ({ ...(await knowledge(cast)), body: { text: 'Another' } }),
  },
  getKnowledgeDocument: { expect: reading, prepare: document },
  removeKnowledgeDocument: { expect: changing, prepare: document },
  getKnowledgeText: { expect: reading, prepare: document },
  reindexKnowledgeDocument: { expect: changing, prepare: document },
}
