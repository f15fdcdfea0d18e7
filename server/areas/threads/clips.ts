import type { Database } from '#platform/db/pool'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { partOf } from '#platform/http/range'
import type { Exchange } from '#platform/http/route'
import { newId, toWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import type { Playback } from './playback.ts'
import type { ThreadSpeech } from './speech.ts'
import * as store from './store.ts'

/** Builds the key from ids only, so that nothing in a sender's request becomes part of a path. */
const keyOf = (workspaceId: string, audioId: string): string => `audio/${workspaceId}/${audioId}`

const AT_ONCE = 500

const extensions: Record<string, string> = {
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/webm': 'webm',
}

export function makeClips(options: { db: Database; blobs: Blobs; speech: ThreadSpeech; playback: Playback }) {
  const { db, blobs, speech, playback } = options

  return {
    /** Stores a clip before its message is written. Its type is determined from its content, not from the request. */
    async keep(ctx: Context, threadId: string, bytes: Buffer): Promise<string> {
      const workspaceId = ctx.workspace.workspace_id
      const { contentType, duration_s } = await speech.inspect({ bytes, workspaceId, signal: ctx.stepAside() })
      const audioId = newId()
      // The row is written first: a crash before the blob leaves a row that is cleaned up, never an unknown blob.
      await ctx.db.tenant(scopeOf(ctx), (tx) =>
        store.insertClip(tx, workspaceId, {
          audio_id: audioId,
          thread_id: threadId,
          content_type: contentType,
          size_bytes: bytes.length,
          duration_s,
        }),
      )
      await blobs.put(keyOf(workspaceId, audioId), bytes)
      return audioId
    },

    attach: (ctx: Context, audioId: string, messageId: string): Promise<unknown> =>
      ctx.db.tenant(scopeOf(ctx), (tx) => store.attachClip(tx, ctx.workspace.workspace_id, audioId, messageId)),

    async drop(ctx: Context, audioId: string): Promise<void> {
      await ctx.db.tenant(scopeOf(ctx), (tx) => store.deleteClip(tx, ctx.workspace.workspace_id, audioId))
    },

    /** Deletes clips that belong to no message, and the bytes of deleted clips. */
    async cleanUp(): Promise<void> {
      for (let found = AT_ONCE; found === AT_ONCE; ) {
        const { rows } = await db.appPool.query<{ workspace_id: string; audio_id: string }>(
          'select * from audio_left_over($1)',
          [AT_ONCE],
        )
        for (const { workspace_id, audio_id } of rows) {
          await blobs.remove(keyOf(workspace_id, audio_id))
          await db.tenant({ workspaceId: workspace_id, userId: null }, (tx) =>
            store.forgetRemoved(tx, workspace_id, audio_id),
          )
        }
        found = rows.length
      }
    },

    /** Serves the public address: anyone who has it may listen until it expires. No cookie or key is checked. */
    async play(_ctx: Context, _input: unknown, { request, reply }: Exchange): Promise<void> {
      const granted = playback.verify({ method: request.method, url: request.raw.url ?? '' })
      if (!granted) throw problem('bad_signature', 'Ask the thread for a new address of the clip.')
      const { workspaceId, audioId } = granted
      const clip = await db.tenant({ workspaceId, userId: null }, (tx) => store.findClip(tx, workspaceId, audioId))
      const bytes = clip && (await blobs.get(keyOf(workspaceId, audioId)))
      if (!clip || !bytes) throw problem('not_found')
      const etag = `"${toWire('aud', audioId)}"`
      reply.headers({
        'content-type': clip.content_type,
        'content-disposition': `attachment; filename="${toWire('aud', audioId)}.${extensions[clip.content_type]}"`,
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'private, no-store',
        'accept-ranges': 'bytes',
        etag,
      })
      const { range } = request.headers
      const ifRange = request.headers['if-range']
      const part =
        range === undefined || (ifRange !== undefined && ifRange !== etag) ? 'whole' : partOf(range, bytes.length)
      if (part === 'whole') reply.send(bytes)
      else if (part === 'none') reply.code(416).header('content-range', `bytes */${bytes.length}`).send()
      else
        reply
          .code(206)
          .header('content-range', `bytes ${part.from}-${part.to}/${bytes.length}`)
          .send(bytes.subarray(part.from, part.to + 1))
    },
  }
}

export type Clips = ReturnType<typeof makeClips>
