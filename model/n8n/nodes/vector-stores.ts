import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible, NotFilled } from '../js-ast.ts'
import { celOut, fieldsOut, member, type Out, pathOut, textOf, valueAlone } from '../out.ts'
import type { Place, Step } from '../step.ts'
import type { N8nNode } from '../types.ts'
import { idFrom } from './databases.ts'
import { chosen, fileOf } from './service-call.ts'

// Vector stores become knowledge bases of the workspace, which split, embed and search texts themselves.

const kindOf = ({ type }: N8nNode): string => type.split('.').at(-1) ?? ''

export const isVectorStore = (node: N8nNode): boolean => /^vectorStore/.test(kindOf(node))

const NAMES = [
  ...['pineconeIndex', 'qdrantCollection', 'tableName', 'memoryKey', 'mongoCollection', 'milvusCollection'],
  ...['weaviateCollection', 'chromaCollection', 'redisIndex', 'indexName', 'collectionName'],
]

/** Returns the knowledge base for a store: one for each name of a store at its vendor. */
export function knowledgeOf(step: Step, node: N8nNode): Json {
  const held = NAMES.map((name) => node.parameters[name]).find((value) => value !== undefined)
  const named = isObject(held) ? (held.cachedResultName ?? chosen(held)) : held
  const name = typeof named === 'string' && !named.includes('{{') ? named.replace(/^=/, '') : ''
  return idFrom(step, 'knowledge', name === '' ? kindOf(node).replace(/^vectorStore/, '') : name)
}

export const passagesOf = (p: JsonObject): number => Math.min(50, Math.max(1, Math.trunc(Number(p.topK ?? 4)) || 4))

const question = (of: Out): Json => ({
  $cel: `cel.bind(v, ${textOf(of)}, size(v) > 1000 ? v.substring(0, 1000) : v)`,
})

/** Returns the text that a loader attached to the store creates from an item. */
function textOfItem(step: Step, { scope, add }: Place): { text: Json; name: Json | undefined } {
  const loader = step.work.attached(step.node.name).find(({ kind }) => kind === 'ai_document')?.node
  if (!loader) throw new NotFilled('it has no document loader')
  const kind = kindOf(loader)
  const { parameters: p } = loader
  if (
    kind !== 'documentDefaultDataLoader' &&
    kind !== 'documentBinaryInputLoader' &&
    kind !== 'documentJsonInputLoader'
  )
    throw new NotConvertible(`its documents come from ${kind.slice(0, 60)}`)
  const isFile = kind === 'documentBinaryInputLoader' || p.dataType === 'binary'
  const item = scope.input.paired()
  if (!isFile) {
    const given = p.jsonMode === 'expressionData' ? step.out(p.jsonData, scope, 'jsonData') : undefined
    return { text: step.guarded(celOut(given ? textOf(given) : `json.encode(${item.cel})`, 'text')), name: undefined }
  }
  const key = String(p.binaryDataKey ?? 'data')
  const file =
    p.binaryMode === 'specificField' && !key.startsWith('=')
      ? valueAlone(fileOf(scope, key))
      : celOut(`cel.bind(v, ${valueAlone(member(item, 'binary')).cel}, v.map(k, v[k])[0])`)
  const id = add('file.convert', { file: step.guarded(file), to: 'text' })
  const about = file.path ? pathOut([...file.path, '$file', 'name']) : undefined
  return { text: { $ref: `nodes.${id}.output.text` }, name: about && step.guarded(about) }
}

function insert(step: Step): Exit[] {
  step.remark('the knowledge base cuts the text and computes its vectors, with the model that is set there')
  return step.each((at) => {
    const { text, name } = textOfItem(step, at)
    const held = at.add('set', { values: { text } }, { isHelper: true })
    const content = pathOut(['nodes', held, 'output', 'text'])
    at.add('knowledge.add', {
      knowledge_id: knowledgeOf(step, step.node),
      text: step.guarded(content),
      ...(name !== undefined && { name }),
    })
    return fieldsOut({ pageContent: content, metadata: fieldsOut({}) })
  })
}

const found = (id: string): string =>
  `${outputOf(id).cel}.passages.map(x, {"document": {"pageContent": x.text, "metadata": {"source": x.document_name, "url": x.url}}, "score": x.score})`

function load(step: Step): Exit[] {
  const { p } = step
  if (typeof p.prompt !== 'string' || p.prompt.replace(/^=/, '') === '') throw new NotFilled('it has no prompt')
  return step.each(
    ({ scope, add }) => {
      const id = add('knowledge.search', {
        knowledge_id: knowledgeOf(step, step.node),
        q: question(step.out(p.prompt, scope, 'prompt')),
        limit: passagesOf(p),
      })
      return celOut(found(id), 'list')
    },
    { many: true },
  )
}

export function vectorStore(step: Step): Exit[] {
  const kind = kindOf(step.node)
  const mode = String(step.p.mode ?? (kind.endsWith('Insert') ? 'insert' : kind.endsWith('Load') ? 'load' : 'retrieve'))
  if (mode === 'insert') return insert(step)
  if (mode === 'load') return load(step)
  throw new NotConvertible(`a vector store in the mode "${mode.slice(0, 40)}" is not mapped`)
}

/** Answers a question from the search results of a store. */
export function answeredFrom(
  step: Step,
  at: Place,
  prompt: Out,
  model: { args: JsonObject; credential: { name: string; kind: string } | undefined },
): Out {
  const retriever = step.work.attached(step.node.name).find(({ kind }) => kind === 'ai_retriever')?.node
  if (!retriever) throw new NotFilled('it has no retriever')
  if (kindOf(retriever) !== 'retrieverVectorStore')
    throw new NotConvertible(`it reads from ${kindOf(retriever).slice(0, 60)}`)
  const store = step.work.attached(retriever.name).find(({ kind }) => kind === 'ai_vectorStore')?.node
  if (!store) throw new NotFilled('it has no vector store')
  const search = at.add('knowledge.search', {
    knowledge_id: knowledgeOf(step, store),
    q: question(prompt),
    limit: passagesOf(retriever.parameters),
  })
  const id = at.add(
    'llm.generate',
    {
      prompt: step.guarded(
        celOut(
          `"Answer the question with the context alone. If it does not say the answer, say that you do not know.\\n\\nContext:\\n" + ${outputOf(search).cel}.passages.map(x, x.text).join("\\n\\n") + "\\n\\nQuestion: " + ${textOf(prompt)}`,
          'text',
        ),
      ),
      ...model.args,
    },
    { credential: model.credential },
  )
  return pathOut(['nodes', id, 'output', 'text'], 'any')
}
