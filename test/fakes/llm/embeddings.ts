import { type Fields, listOf, need, only, textOf } from './strict.ts'

// POST /v1/embeddings.

export type EmbedText = (text: string) => number[]

export const readEmbeddings = (body: Fields): string[] => {
  only(body, ['model', 'input', 'encoding_format', 'dimensions', 'user'], '')
  textOf(body.model, 'model')
  need(body.encoding_format === undefined || body.encoding_format === 'float', 'this server gives floats')
  const texts = listOf(body.input, 'input').map((text, index) => textOf(text, `input[${index}]`))
  need(texts.length > 0 && texts.length <= 2048, 'input has no texts, or too many')
  for (const [index, text] of texts.entries()) need(text !== '', `input[${index}] is empty`)
  return texts
}

/** Lists the vectors in reverse order, so that the client has to use their index. */
export const writeEmbeddings = (texts: string[], embed: EmbedText): unknown => ({
  object: 'list',
  model: 'fake-embeddings',
  data: texts.map((text, index) => ({ object: 'embedding', index, embedding: embed(text) })).reverse(),
  usage: { prompt_tokens: 10 * texts.length, total_tokens: 10 * texts.length },
})
