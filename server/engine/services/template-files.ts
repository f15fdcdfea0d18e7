import { type Files, readWhole } from '#engine/files'
import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { composeMime } from '#providers/services/mime'
import type { TemplateFiles } from '#providers/services/template'

/** The maximum size of files inside JSON, which are held in memory. */
const MAX_BYTES = 20 * 1024 * 1024

const texts = (value: Json | undefined): string[] | undefined =>
  value === undefined ? undefined : (Array.isArray(value) ? value : [value]).map(String)
const text = (value: Json | undefined): string | undefined => (value === undefined ? undefined : String(value))

export const filesForTemplate = (files: Files, run: Pick<NodeCall, 'workspaceId' | 'executionId'>): TemplateFiles => ({
  async base64(value: Json): Promise<string> {
    return (await readWhole(await files.open(run, value), MAX_BYTES)).toString('base64')
  },
  /** Returns a mail as base64url, as Gmail requires. */
  async mime(message: JsonObject): Promise<string> {
    const attachments: { filename: string; contentType: string; content: Buffer }[] = []
    let left = MAX_BYTES
    for (const value of Array.isArray(message.attachments) ? message.attachments : []) {
      const file = await files.open(run, value)
      left -= file.bytes
      if (left < 0)
        throw new NodeFailure('file_too_large', `attachments may have at most ${MAX_BYTES} bytes together`, {
          retryable: false,
          nothingDone: true,
        })
      attachments.push({ filename: file.name, contentType: file.media_type, content: await readWhole(file, MAX_BYTES) })
    }
    const composed = await composeMime({
      from: text(message.from),
      to: texts(message.to),
      cc: texts(message.cc),
      bcc: texts(message.bcc),
      replyTo: text(message.reply_to),
      subject: text(message.subject),
      text: text(message.text),
      html: text(message.html),
      inReplyTo: text(message.in_reply_to),
      references: text(message.references),
      attachments,
    })
    return composed.toString('base64url')
  },
})
