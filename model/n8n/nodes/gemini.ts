import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { NotConvertible } from '../js-ast.ts'
import { celOut, fieldsOut, type Out, pathOut } from '../out.ts'
import type { Place, Step } from '../step.ts'
import { chosen, fileOf } from './service-call.ts'

// Files for Gemini, and pictures that it makes: requests to the vendor, with the credential of the node.

const API = 'https://generativelanguage.googleapis.com/v1beta'
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const plain = ({ cel, type, path }: Out): Out => ({ cel, type, ...(path && { path }) })

function fieldName(value: Json | undefined): string {
  const name = String(value ?? 'data').replace(/^=(?!.*\{\{)/, '')
  if (name.startsWith('=')) throw new NotConvertible('the name of the field with the file is computed')
  return name === '' ? 'data' : name
}

function modelUrl({ p }: Step, otherwise: string): string {
  const named = chosen(p.modelId)
  const model = typeof named === 'string' && /^(?:models\/)?[\w.-]+$/.test(named) ? named : otherwise
  return `${API}/${model.startsWith('models/') ? model : `models/${model}`}`
}

/** A file of the item, or one that is fetched from its address, as a part of the prompt. */
function filePart(step: Step, { scope, add }: Place, field: string, urls: Json | undefined): Json {
  const isFile = ['base64', 'binary'].includes(String(step.p.inputType ?? 'url'))
  const file = isFile
    ? step.guarded(plain(fileOf(scope, field)))
    : {
        $ref: `nodes.${add('http.request', { method: 'GET', url: step.text(urls, scope, 'urls'), response: 'file' })}.output.body`,
      }
  return inline({ add }, file)
}

function inline({ add }: Pick<Place, 'add'>, file: Json): Json {
  const id = add('file.read', { file, as: 'base64' })
  return {
    inline_data: {
      mime_type: { $ref: `nodes.${id}.output.media_type` },
      data: { $ref: `nodes.${id}.output.content` },
    },
  }
}

type Credential = { name: string; kind: string } | undefined

function asked({ add }: Place, url: string, parts: Json[], credential: Credential, more: JsonObject = {}): string {
  return add(
    'http.request',
    { method: 'POST', url: `${url}:generateContent`, json: { contents: [{ parts }], ...more } },
    { credential: credential ?? { name: 'Google Gemini', kind: 'googlePalmApi' } },
  )
}

/** What the model says of a file, wrapped as n8n does. */
function told(step: Step, at: Place, credential: Credential, urls: Json | undefined, otherwise: string): Out {
  const { p } = step
  const file = filePart(step, at, fieldName(p.binaryPropertyName), urls)
  const text = p.text === undefined || p.text === '' ? otherwise : step.text(p.text, at.scope, 'text')
  const id = asked(at, modelUrl(step, 'models/gemini-2.5-flash'), [{ text }, file], credential)
  const said: Out = celOut(
    `${outputOf(id).cel}.body.candidates[0].content.parts.filter(x, "text" in x).map(x, x.text).join("")`,
    'text',
  )
  const parts: Out = { cel: `[{"text": ${said.cel}}]`, type: 'list', fields: { '0': fieldsOut({ text: said }) } }
  return fieldsOut({ content: fieldsOut({ parts, role: celOut('"model"', 'text') }) })
}

/** The picture that comes in Base64, as a file. */
function drawn(step: Step, at: Place, credential: Credential, files: Json[]): Out {
  const { p } = step
  const url = modelUrl(step, 'models/gemini-2.5-flash-image')
  const text = step.text(p.prompt, at.scope, 'prompt')
  const isImagen = url.includes('imagen')
  const id = isImagen
    ? at.add(
        'http.request',
        {
          method: 'POST',
          url: `${url}:predict`,
          json: { instances: [{ prompt: text }], parameters: { sampleCount: 1 } },
        },
        { credential: credential ?? { name: 'Google Gemini', kind: 'googlePalmApi' } },
      )
    : asked(at, url, [{ text }, ...files], credential, { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } })
  const body = `${outputOf(id).cel}.body`
  const picture = isImagen
    ? `${body}.predictions[0].bytesBase64Encoded`
    : `${body}.candidates[0].content.parts.filter(x, "inlineData" in x)[0].inlineData.data`
  const file = at.add('file.write', { name: 'image.png', media_type: 'image/png', base64: { $cel: picture } })
  const name = fieldName(objectOf(p.options).binaryPropertyOutput)
  return fieldsOut({ binary: fieldsOut({ [name]: { ...pathOut(['nodes', file, 'output']), isFile: true } }) })
}

/** Undefined where it is none of these. */
export function geminiMedia(
  step: Step,
  resource: string,
  operation: string,
  credential: Credential,
): Exit[] | undefined {
  const { p } = step
  switch (`${resource}:${operation}`) {
    case 'image:generate':
      return step.each((at) => drawn(step, at, credential, []))
    case 'image:edit': {
      const named = objectOf(p.images).values
      const fields = (Array.isArray(named) ? named.filter(isObject) : [{}]).map((one) =>
        fieldName(one.binaryPropertyName),
      )
      return step.each((at) =>
        drawn(
          step,
          at,
          credential,
          fields.map((field) => inline(at, step.guarded(plain(fileOf(at.scope, field))))),
        ),
      )
    }
    case 'audio:transcribe':
      return step.each((at) => told(step, at, credential, p.audioUrls, 'Generate a transcript of the speech'))
    case 'audio:analyze':
      return step.each((at) => told(step, at, credential, p.audioUrls, "What's in this audio?"))
    case 'document:analyze':
      return step.each((at) => told(step, at, credential, p.documentUrls, "What's in this document?"))
    case 'video:analyze':
      return step.each((at) => told(step, at, credential, p.videoUrls, "What's in this video?"))
    default:
      return undefined
  }
}
