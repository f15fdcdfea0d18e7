import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { type Exit, outputOf } from '../flow.ts'
import { objectOf } from '../lenient.ts'
import { celOut, fieldsOut, type Out, pathOut } from '../out.ts'
import type { Place, Step } from '../step.ts'
import { asGeminiAnswer, type Credential, fieldName, fileOfItem, givenFile, inBase64 } from './media-file.ts'
import { chosen } from './service-call.ts'

// Files for Gemini, and images that it creates: requests to the vendor, with the credential of the node.

const API = 'https://generativelanguage.googleapis.com/v1beta'

function modelUrl({ p }: Step, otherwise: string): string {
  const named = chosen(p.modelId)
  const model = typeof named === 'string' && /^(?:models\/)?[\w.-]+$/.test(named) ? named : otherwise
  return `${API}/${model.startsWith('models/') ? model : `models/${model}`}`
}

/** Returns a file as a part of the prompt. */
function filePart(at: Pick<Place, 'add'>, file: Json): Json {
  const { content, mediaType } = inBase64(at, file)
  return { inline_data: { mime_type: mediaType, data: content } }
}

function asked({ add }: Place, url: string, parts: Json[], credential: Credential, more: JsonObject = {}): string {
  return add(
    'http.request',
    { method: 'POST', url: `${url}:generateContent`, json: { contents: [{ parts }], ...more } },
    { credential: credential ?? { name: 'Google Gemini', kind: 'googlePalmApi' } },
  )
}

/** Returns the model's text about a file, wrapped as n8n does. */
function answerAbout(step: Step, at: Place, credential: Credential, urls: Json | undefined, otherwise: string): Out {
  const { p } = step
  const file = filePart(at, givenFile(step, at, urls))
  const text = p.text === undefined || p.text === '' ? otherwise : step.text(p.text, at.scope, 'text')
  const id = asked(at, modelUrl(step, 'models/gemini-2.5-flash'), [{ text }, file], credential)
  const said = `${outputOf(id).cel}.body.candidates[0].content.parts.filter(x, "text" in x).map(x, x.text).join("")`
  return asGeminiAnswer(celOut(said, 'text'))
}

/** Returns the generated image, which arrives in Base64, as a file. */
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

/** Converts the media operations of Gemini; returns undefined for any other operation. */
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
      const fields = (Array.isArray(named) ? named.filter(isObject) : [{}]).map((one) => one.binaryPropertyName)
      return step.each((at) =>
        drawn(
          step,
          at,
          credential,
          fields.map((field) => filePart(at, fileOfItem(step, at.scope, field))),
        ),
      )
    }
    case 'audio:transcribe':
      return step.each((at) => answerAbout(step, at, credential, p.audioUrls, 'Generate a transcript of the speech'))
    case 'audio:analyze':
      return step.each((at) => answerAbout(step, at, credential, p.audioUrls, "What's in this audio?"))
    case 'document:analyze':
      return step.each((at) => answerAbout(step, at, credential, p.documentUrls, "What's in this document?"))
    case 'video:analyze':
      return step.each((at) => answerAbout(step, at, credential, p.videoUrls, "What's in this video?"))
    default:
      return undefined
  }
}
