import type { Json } from '#model/definition'
import { NotConvertible } from '../js-ast.ts'
import { celOut, fieldsOut, type Out, valueAlone } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { fileOf } from './service-call.ts'

// Files that are inputs of models for sound and images.

export type Credential = { name: string; kind: string } | undefined

/** Returns the name of the field that contains a file; a computed name cannot be determined. */
export function fieldName(value: Json | undefined): string {
  const name = String(value ?? 'data').replace(/^=(?!.*\{\{)/, '')
  if (name.startsWith('=')) throw new NotConvertible('the name of the field with the file is computed')
  return name === '' ? 'data' : name
}

export const fileOfItem = (step: Step, scope: Scope, field: Json | undefined): Json =>
  step.guarded(valueAlone(fileOf(scope, fieldName(field))))

/** Returns a file of the item, or a file fetched from its address. */
export function givenFile(step: Step, { scope, add }: Place, urls: Json | undefined): Json {
  if (['base64', 'binary'].includes(String(step.p.inputType ?? 'url')))
    return fileOfItem(step, scope, step.p.binaryPropertyName)
  const id = add('http.request', { method: 'GET', url: step.text(urls, scope, 'urls'), response: 'file' })
  return { $ref: `nodes.${id}.output.body` }
}

export function inBase64({ add }: Pick<Place, 'add'>, file: Json): { content: Json; mediaType: Json } {
  const id = add('file.read', { file, as: 'base64' })
  return { content: { $ref: `nodes.${id}.output.content` }, mediaType: { $ref: `nodes.${id}.output.media_type` } }
}

/** Wraps a text as n8n wraps an answer of Gemini. */
export function asGeminiAnswer(text: Out): Out {
  const parts: Out = { cel: `[{"text": ${text.cel}}]`, type: 'list', fields: { '0': fieldsOut({ text }) } }
  return fieldsOut({ content: fieldsOut({ parts, role: celOut('"model"', 'text') }) })
}
