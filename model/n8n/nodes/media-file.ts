import type { Json } from '#model/definition'
import { NotConvertible } from '../js-ast.ts'
import { celOut, fieldsOut, type Out } from '../out.ts'
import type { Scope } from '../scope.ts'
import type { Place, Step } from '../step.ts'
import { fileOf } from './service-call.ts'

// Files that models hear and see.

export type Credential = { name: string; kind: string } | undefined

/** The name of the field that holds a file; a name that is computed cannot be told. */
export function fieldName(value: Json | undefined): string {
  const name = String(value ?? 'data').replace(/^=(?!.*\{\{)/, '')
  if (name.startsWith('=')) throw new NotConvertible('the name of the field with the file is computed')
  return name === '' ? 'data' : name
}

const plain = ({ cel, type, path }: Out): Out => ({ cel, type, ...(path && { path }) })

export const fileOfItem = (step: Step, scope: Scope, field: Json | undefined): Json =>
  step.guarded(plain(fileOf(scope, fieldName(field))))

/** A file of the item, or one that is fetched from its address. */
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

/** A text as n8n wraps what Gemini says. */
export function asGeminiAnswer(text: Out): Out {
  const parts: Out = { cel: `[{"text": ${text.cel}}]`, type: 'list', fields: { '0': fieldsOut({ text }) } }
  return fieldsOut({ content: fieldsOut({ parts, role: celOut('"model"', 'text') }) })
}
