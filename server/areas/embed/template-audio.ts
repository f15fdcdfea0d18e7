import type { z } from 'zod'
import { readAudio, toAudioProblem } from '#areas/conversations/audio'
import { type Allowances, countListening } from '#areas/payments/allowances'
import { type Features, featuresOf } from '#areas/templates/schema'
import type { Templates } from '#areas/templates/service'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import type { Exchange } from '#platform/http/route'
import type { Speech } from '#providers/speech/index'
import type { Transcription } from '#providers/transcription/index'
import type { Speak } from './schema.ts'

type OfTemplate = { template_id: string }

export type AudioParts = {
  templates: Pick<Templates, 'findTemplate'>
  speech: Speech
  transcription: Transcription
  allowances: Allowances
}

/** Speech output and dictation for the visitors of a template. */
export function makeTemplateAudio({ templates, speech, transcription, allowances }: AudioParts) {
  const offered = (stored: Partial<Features>): Features => {
    const features = featuresOf(stored)
    return {
      speech: features.speech && speech.available() === null,
      transcribe: features.transcribe && transcription.available() === null,
      names: features.names,
    }
  }

  async function requireFeature(ctx: Context, { template_id }: OfTemplate, feature: 'speech' | 'transcribe') {
    const template = await ctx.db.tenant(scopeOf(ctx), (tx) =>
      templates.findTemplate(tx, ctx.workspace.workspace_id, template_id),
    )
    if (!template) throw problem('not_found')
    if (!featuresOf(template.features)[feature])
      throw problem('forbidden', `The template does not offer ${feature}; its owner can enable it in features.`)
    const unavailable = feature === 'speech' ? speech.available() : transcription.available()
    if (unavailable !== null) throw problem('provider_not_configured', unavailable)
    return template
  }

  /** Sends the speech as MP3. Nothing is stored. */
  async function speak(
    ctx: Context,
    { text, voice, ...of }: OfTemplate & z.output<typeof Speak>,
    { reply }: Exchange,
  ): Promise<void> {
    const template = await requireFeature(ctx, of, 'speech')
    // The template's voice may belong to a provider that is no longer configured.
    const usual = speech.voices().some(({ id }) => id === template.voice) ? template.voice : null
    const chosen = voice ?? usual
    const workspaceId = ctx.workspace.workspace_id
    await allowances.spend(workspaceId, 'speech_characters_per_minute', text.length)
    const spoken = await speech
      .synthesize({
        text,
        format: 'mp3',
        workspaceId,
        signal: ctx.stepAside(),
        ...(chosen !== null && { voice: chosen }),
      })
      .catch((error: unknown) => {
        throw toAudioProblem(error)
      })
    reply.header('content-type', 'audio/mpeg').header('cache-control', 'no-store')
    await reply.send(spoken.bytes)
  }

  async function transcribe(ctx: Context, { body, ...of }: OfTemplate & { body: Buffer }, { request }: Exchange) {
    await requireFeature(ctx, of, 'transcribe')
    const bytes = await readAudio(body, request.headers['content-type'])
    const workspaceId = ctx.workspace.workspace_id
    const clip = { bytes, workspaceId, signal: ctx.stepAside() }
    const refuse = (error: unknown): never => {
      throw toAudioProblem(error)
    }
    return countListening(allowances, workspaceId, {
      inspect: () => transcription.inspect(clip).catch(refuse),
      listen: () => transcription.transcribe(clip).catch(refuse),
    })
  }

  return { offered, speak, transcribe }
}
