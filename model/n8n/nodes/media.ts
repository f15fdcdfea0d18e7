import type { Json } from '#model/definition'
import { type Exit, outputOf } from '../flow.ts'
import { objectOf } from '../lenient.ts'
import { fieldsOut, type Out, pathOut } from '../out.ts'
import type { Place, Step } from '../step.ts'
import { geminiMedia } from './gemini.ts'
import { asGeminiAnswer, type Credential, fieldName, fileOfItem, givenFile, inBase64 } from './media-file.ts'
import { addCall } from './service-call.ts'

// Images and sound of OpenAI and Gemini: actions of the service OpenAI, and models that analyze images.

const asFile = (id: string, name: string): Out =>
  fieldsOut({ binary: fieldsOut({ [name]: { ...pathOut(['nodes', id, 'output', 'file']), isFile: true } }) })

function transcribed(step: Step, at: Place, action: 'transcribe' | 'translate_audio'): Out {
  const { p } = step
  const options = objectOf(p.options)
  const id = addCall(step, at, 'openai', action, {
    file: fileOfItem(step, at.scope, p.binaryPropertyName),
    ...(typeof options.language === 'string' &&
      action === 'transcribe' && { language: step.text(options.language, at.scope, 'language') }),
  })
  return outputOf(id)
}

const SIZES = ['1024x1024', '1536x1024', '1024x1536']

function drawn(step: Step, at: Place): Out {
  const { p } = step
  const options = objectOf(p.options)
  const size = String(options.size ?? '')
  if (size !== '' && !SIZES.includes(size))
    step.remark(`pictures of the size ${size.slice(0, 20)} are no longer available`)
  if (options.returnImageUrls === true) step.remark('the picture is a file, not an address')
  const id = addCall(step, at, 'openai', 'generate_image', {
    prompt: step.text(p.prompt, at.scope, 'prompt'),
    ...(SIZES.includes(size) && { size }),
  })
  return asFile(id, fieldName(options.binaryPropertyOutput))
}

function spoken(step: Step, at: Place): Out {
  const { p } = step
  const options = objectOf(p.options)
  const known = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']
  const id = addCall(step, at, 'openai', 'create_speech', {
    input: step.text(p.input, at.scope, 'input'),
    ...(p.voice !== undefined && { voice: step.text(p.voice, at.scope, 'voice') }),
    ...(known.includes(String(options.response_format)) && { response_format: String(options.response_format) }),
  })
  return asFile(id, fieldName(options.binaryPropertyOutput))
}

/** Returns the model's text about an image. */
function analyzed(
  step: Step,
  at: Place,
  { credential, text, urls }: { credential: Credential; text: Json | undefined; urls: Json | undefined },
): Out {
  const { content, mediaType } = inBase64(at, givenFile(step, at, urls))
  const prompt = step.text(text ?? "What's in this image?", at.scope, 'text')
  const id = at.add('llm.generate', { prompt, images: [{ base64: content, content_type: mediaType }] }, { credential })
  return pathOut(['nodes', id, 'output', 'text'])
}

/** Converts operations on media; returns undefined for any other operation. */
export function media(step: Step, resource: string, operation: string, credential: Credential): Exit[] | undefined {
  const { p } = step
  const isGemini = step.node.type.endsWith('.googleGemini')
  if (isGemini) {
    if (resource !== 'image' || operation !== 'analyze') return geminiMedia(step, resource, operation, credential)
    return step.each((at) => asGeminiAnswer(analyzed(step, at, { credential, text: p.text, urls: p.imageUrls })))
  }
  switch (`${resource}:${operation}`) {
    case 'audio:transcribe':
      return step.each((at) => transcribed(step, at, 'transcribe'))
    case 'audio:translate':
      return step.each((at) => transcribed(step, at, 'translate_audio'))
    case 'audio:generate':
      return step.each((at) => spoken(step, at))
    case 'image:generate':
    case 'image:create':
      return step.each((at) => drawn(step, at))
    case 'image:analyze':
      return step.each((at) => {
        const text = analyzed(step, at, { credential, text: p.text, urls: p.imageUrls })
        return fieldsOut({
          content: text,
          '0': fieldsOut({ content: fieldsOut({ '0': fieldsOut({ text }) }) }),
        })
      })
    default:
      return undefined
  }
}
