import type { FileValue } from '#engine/files'
import { problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { partOf } from '#platform/http/range'
import type { Exchange } from '#platform/http/route'
import { blocksOf, checkLength, discardRest, hasBody, readUpload } from '#platform/http/upload'
import { fromWire, newId } from '#platform/ids'
import { type FileParts, fileNameOf, keepFile, keyOf, mediaTypeOf } from './keeping.ts'
import type { DownloadLinks } from './links.ts'
import * as store from './store.ts'

/** Types that a browser shows without running code. All others are sent as plain bytes. */
const SAFE =
  /^(text\/(plain|csv|markdown)|application\/(json|pdf|zip|gzip|vnd\.[a-z0-9.-]+)|image\/(png|jpeg|gif|webp)|(audio|video)\/[a-z0-9.+-]+)$/

/** The additional size allowed for the other parts of a form around the file. */
const AROUND = 1 << 20

export const uploadFile = (
  parts: FileParts,
  ctx: Context,
  input: { name?: string | undefined },
  exchange: Exchange,
): Promise<FileValue> => keepUpload(parts, ctx, { ...input, created_by: ctx.person.user_id, sender_id: null }, exchange)

/** Visitors are anonymous, so their limits are lower. */
const MAX_VISITOR_BYTES = 64 << 20
const MAX_UNTAKEN = 20

/** Stores a file of a visitor. Executions that the visitor's conversations start may use it. */
export async function uploadAsVisitor(
  parts: FileParts,
  ctx: Context,
  input: { name?: string | undefined; visitorId: string },
  exchange: Exchange,
): Promise<FileValue> {
  const { workspace_id } = ctx.workspace
  const untaken = await ctx.db.tenant(scopeOf(ctx), (tx) => store.countUntaken(tx, workspace_id, input.visitorId))
  if (untaken >= MAX_UNTAKEN) {
    discardRest(exchange)
    throw problem('conflict', `You have ${MAX_UNTAKEN} unused files. Use them first, or wait until they are deleted.`)
  }
  const maxBytes = Math.min(parts.maxBytes, MAX_VISITOR_BYTES)
  const owner = { name: input.name, created_by: null, sender_id: input.visitorId }
  return keepUpload({ ...parts, maxBytes }, ctx, owner, exchange)
}

async function keepUpload(
  parts: FileParts,
  ctx: Context,
  { name, created_by, sender_id }: { name?: string | undefined; created_by: string | null; sender_id: string | null },
  exchange: Exchange,
): Promise<FileValue> {
  const { request } = exchange
  const workspaceId = ctx.workspace.workspace_id
  const keep = (given: { fileName: string; mediaType: string | undefined; blocks: AsyncIterable<Buffer> }) =>
    keepFile(
      parts,
      workspaceId,
      {
        file_id: newId(),
        name: fileNameOf(given.fileName),
        media_type: mediaTypeOf(given.mediaType),
        created_by,
        sender_id,
        execution_id: null,
      },
      given.blocks,
    )
  try {
    checkLength(request, parts.maxBytes + AROUND)
    const type = request.headers['content-type']
    const kept = /^multipart\/form-data\b/i.test(type ?? '')
      ? (await readUpload(exchange, { fields: [], mostBytes: parts.maxBytes }, keep)).result
      : await keepRaw()
    const { file_id } = kept.$file
    return { $file: { ...kept.$file, file_id: fromWire('file', file_id) as string } }
  } catch (error) {
    discardRest(exchange)
    throw error
  }

  function keepRaw(): Promise<FileValue> {
    if (!hasBody(request)) throw problem('malformed', 'Send the file as the body, or as the part "file" of a form.')
    return keep({
      fileName: name ?? 'file',
      mediaType: request.headers['content-type'],
      blocks: blocksOf(request.raw, parts.maxBytes),
    })
  }
}

export async function downloadFile(
  parts: FileParts,
  ctx: Context,
  { file_id }: { file_id: string },
  exchange: Exchange,
): Promise<void> {
  const workspaceId = ctx.workspace.workspace_id
  const row = await ctx.db.tenant(scopeOf(ctx), (tx) => store.findFile(tx, workspaceId, file_id))
  await send(parts, workspaceId, row, exchange)
}

export async function linkToFile(
  { links, baseUrl }: { links: DownloadLinks; baseUrl(): string },
  ctx: Context,
  { file_id }: { file_id: string },
): Promise<{ url: string; expires_at: Date }> {
  const { path, expires_at } = links.sign({ workspaceId: ctx.workspace.workspace_id, fileId: file_id })
  return { url: baseUrl() + path, expires_at }
}

/**
 * Sends a file by its signed address. Every client with the address may read the file until it expires. Cookies and
 * keys are ignored.
 */
export async function downloadByLink(
  parts: FileParts & { links: DownloadLinks },
  _ctx: Context,
  _input: unknown,
  exchange: Exchange,
): Promise<void> {
  const granted = parts.links.verify(exchange.request.raw.url ?? '')
  if (!granted) throw problem('bad_signature', 'The address has expired. Ask for a new one.')
  const { workspaceId, fileId } = granted
  const row = await parts.db.tenant({ workspaceId, userId: null }, (tx) => store.findFile(tx, workspaceId, fileId))
  await send(parts, workspaceId, row, exchange)
}

const dispositionOf = (name: string): string =>
  `attachment; filename="${name.replace(/[^\x20-\x7e]|["\\]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)}`

async function send(
  { blobs }: FileParts,
  workspaceId: string,
  row: store.FileRow | undefined,
  { request, reply }: Exchange,
): Promise<void> {
  if (!row) throw problem('not_found')
  const etag = `"${row.sha256}"`
  const { range } = request.headers
  const ifRange = request.headers['if-range']
  const part = range === undefined || (ifRange !== undefined && ifRange !== etag) ? 'whole' : partOf(range, row.bytes)
  if (part === 'none') {
    reply.code(416).header('content-range', `bytes */${row.bytes}`).send()
    return
  }
  const stream = await blobs.stream(keyOf(workspaceId, row.file_id), part === 'whole' ? undefined : part)
  if (!stream) throw problem('not_found')
  reply.headers({
    'content-type': SAFE.test(row.media_type) ? row.media_type : 'application/octet-stream',
    'content-disposition': dispositionOf(row.name),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    'content-length': part === 'whole' ? row.bytes : part.to - part.from + 1,
    etag,
  })
  if (part !== 'whole') reply.code(206).header('content-range', `bytes ${part.from}-${part.to}/${row.bytes}`)
  reply.send(stream)
}
