import type { Client } from '#sdk/client'

/** Creates what a workspace stores for its workflows: a credential, documents, a receiver of events, a variable. */
export async function fillKept(ada: Client, at: Record<string, string>): Promise<void> {
  const [credential, base, destination] = await Promise.all([
    ada.createCredential({
      name: 'Bank of Lyon',
      kind: 'bearer',
      hosts: ['api.example.com'],
      secrets: { token: 'a-token-of-the-bank' },
    }),
    ada.createKnowledge({ name: 'House rules', description: 'What everybody in the mill keeps to.' }),
    // No such event happens here, so nothing is sent.
    ada.createDestination({ url: 'https://books.example.com/events', event_types: ['budget.exceeded'] }),
    ada.putVariable({ name: 'REGION', value: 'eu-west-1', description: 'Where orders are kept' }),
  ])
  const { knowledge_id } = base
  const { document_id } = await ada.addKnowledgeDocument({
    knowledge_id,
    name: 'Returns',
    text: 'Yarn can be returned within thirty days if the seal of the box is whole.',
  })
  at.credential = `/credentials/${credential.credential_id}`
  at.base = `/knowledge/${knowledge_id}`
  at.document = `/knowledge/${knowledge_id}/documents/${document_id}`
  at.destination = `/destinations/${destination.destination_id}`
}
