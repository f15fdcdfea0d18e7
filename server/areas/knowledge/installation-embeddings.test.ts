import { expect, test } from 'vitest'
import { useServiceWithModel } from '#test/harness/model'
import { type Answer, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld } from '#test/harness/world'

// Knowledge bases whose vectors come from the installation's own model.

const MODEL = 'fake-embeddings'
const { model, service, world } = await useServiceWithModel('fake-model', { LLM_EMBEDDINGS_MODEL: MODEL })

/** Texts about animals have similar vectors, and all others the opposite. */
const aboutAnimals = (text: string): number[] => (/dog|cat|pet/i.test(text) ? [1, 0.1, -0.2] : [-1, 0.2, 0.3])

const make = (embeddings: unknown): Promise<Answer> =>
  world().owner.call('POST', '/api/knowledge', { body: { name: 'Base', language: 'english', embeddings } })
const makeBase = async (): Promise<string> => {
  const { status, body, text } = await make({})
  expect(status, text).toBe(201)
  expect(body.embeddings).toEqual({ credential_id: null, model: MODEL })
  return body.knowledge_id
}
const add = async (base: string, text: string) => {
  const path = `/api/knowledge/${base}/documents`
  const { body } = await world().owner.call('POST', path, { body: { name: 'Text', text } })
  return until(async () => {
    const read = (await world().owner.call('GET', `${path}/${body.document_id}`)).body
    return ['ready', 'failed'].includes(read.status) ? read : undefined
  }, 'the document')
}
const search = async (base: string, q: string) =>
  (await world().owner.call('POST', `/api/knowledge/${base}/search`, { body: { q, limit: 5 } })).body

test('a base without a credential is searched by meaning, and its cost is counted and limited by budgets', async () => {
  model.embedWith(aboutAnimals)
  const { owner, workspace } = world()
  await service().sql(
    `insert into model_prices (model, input, output) values ('openai-compatible/${MODEL}', 100000, 0)`,
  )
  const offered = await owner.call('GET', `/api/workspaces/${workspace.id}/language-model`)
  expect(offered.body).toMatchObject({ source: 'installation', embedding_model: MODEL })
  const base = await makeBase()
  expect(await add(base, 'A dog barks.')).toMatchObject({ status: 'ready', error: null })
  await add(base, 'A car drives.')
  const found = await search(base, 'Which pet is loud?')
  expect([found.ranked_by, found.passages[0].text]).toEqual(['hybrid', 'A dog barks.'])
  const spent = async () => {
    const { body } = await owner.call('GET', '/api/insights/usage?group_by=model')
    return body.items.find((item: { model: string }) => item.model === `openai-compatible/${MODEL}`)
  }
  expect(await spent()).toMatchObject({ calls: 3, input_tokens: 30, output_tokens: 0, cost: 3 })

  const budget = { scope: 'workspace', limit: 3.5, per: 'month', hard: true }
  const set = await owner.call('PUT', '/api/budgets', { body: { budgets: [budget] } })
  expect(set.status, set.text).toBe(200)
  const late = await add(base, 'A long text about a cat that sleeps all day. '.repeat(10))
  expect(late).toMatchObject({ status: 'ready', error: { code: 'embedding_failed' } })
  expect((await search(base, 'Which cat sleeps all day in this house?')).ranked_by).toBe('full_text')
  expect(await spent()).toMatchObject({ calls: 3 })
  await owner.call('PUT', '/api/budgets', { body: { budgets: [] } })
})

test('the installation’s model is chosen by the operator, and a credential requires a model name', async () => {
  const refused = async (embeddings: unknown, path: string): Promise<void> => {
    const { status, body } = await make(embeddings)
    expect([status, body.errors?.[0]?.path]).toEqual([422, path])
  }
  await refused({ model: 'another-model' }, '/embeddings/model')
  await refused({ credential_id: null, model: 'another-model' }, '/embeddings/model')
  const credential = await world().owner.call('POST', '/api/credentials', {
    body: {
      name: 'Model',
      kind: 'llm',
      config: { provider: 'openai-compatible', base_url: model.baseUrl },
      secrets: { api_key: model.key },
    },
  })
  await refused({ credential_id: credential.body.credential_id }, '/embeddings/model')

  // After its credential is deleted, a base is searched by words only, and causes no cost for the operator.
  model.embedWith(aboutAnimals)
  const { body } = await make({ credential_id: credential.body.credential_id, model: MODEL })
  const gone = await world().owner.call('DELETE', `/api/credentials/${credential.body.credential_id}`)
  expect(gone.status, gone.text).toBeLessThan(300)
  const before = model.embedded.length
  expect((await search(body.knowledge_id, 'Which dog?')).ranked_by).toBe('full_text')
  expect(model.embedded.length).toBe(before)
})

test('a base needs a credential if the installation has no embedding model or does not offer it to tenants', async () => {
  const closed = await startService({
    env: {
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'fake-model',
      LLM_BASE_URL: model.baseUrl,
      LLM_EMBEDDINGS_MODEL: MODEL,
      LLM_FOR_TENANTS: 'closed',
    },
  })
  const { owner, workspace } = await makeWorld(closed)
  const refused = await owner.call('POST', '/api/knowledge', { body: { name: 'Base', embeddings: {} } })
  expect([refused.status, refused.body.errors[0].path]).toEqual([422, '/embeddings/credential_id'])
  const offered = await owner.call('GET', `/api/workspaces/${workspace.id}/language-model`)
  expect(offered.body).toMatchObject({ source: 'none', embedding_model: null })
  await closed.stop()
})
