import { createHash } from 'node:crypto'
import { IMPORTED } from '#engine/nodes/service-call'
import { recordAudit } from '#platform/audit'
import { SECOND } from '#platform/clock'
import type { Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import { type Context, scopeOf } from '#platform/http/context'
import { newId, toWire } from '#platform/ids'
import { OutgoingFailure } from '#platform/outgoing/failure'
import type { Outgoing } from '#platform/outgoing/outgoing'
import {
  type ActionHead,
  type CompiledDocument,
  DocumentFailure,
  MAX_DOCUMENT_BYTES,
  type OpenApiCompiler,
} from '#providers/services/openapi/index'
import type { PiecePackage } from '#providers/services/pieces/index'
import type { McpProgram, ProgramLock } from '#providers/services/programs/index'
import { type PieceParts, pieceService, type ReadPiece, readPiece } from './import-piece.ts'
import { type ProgramParts, readProgram } from './import-program.ts'
import type { ImportRequest, ServiceImport } from './import-schema.ts'
import * as store from './import-store.ts'
import { readTools, type ToolParts } from './import-tools.ts'
import { packageOf } from './service.ts'

// Imports an OpenAPI document, an MCP server or a piece as a service of the workspace. No lock or transaction is held
// while the document is downloaded and parsed.

const FETCH_WITHIN = 30 * SECOND
const MAX_SERVICES = 50
const MAX_ACTIONS = 10_000

export type ImportParts = ToolParts &
  PieceParts &
  ProgramParts & { outgoing: Pick<Outgoing, 'request'>; openapi: Pick<OpenApiCompiler, 'compile'> }

type Read = { document: CompiledDocument; sha256: string; baseUrl: string | null } & Partial<
  Omit<ReadPiece, 'package'> & { package: PiecePackage | McpProgram; lock: ProgramLock }
>

async function bytesOf({ outgoing }: ImportParts, ctx: Context, input: ImportRequest): Promise<Buffer> {
  if (input.document !== undefined)
    return Buffer.from(typeof input.document === 'string' ? input.document : JSON.stringify(input.document))
  try {
    const { status, body } = await outgoing.request({
      url: input.url!,
      headers: { accept: 'application/json, application/yaml, text/yaml, */*' },
      signal: ctx.signal,
      timeoutMs: FETCH_WITHIN,
      maxBytes: MAX_DOCUMENT_BYTES,
    })
    if (status !== 200) throw problem('probe_failed', `The address of the document answered ${status}.`)
    return body
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    throw problem('probe_failed', `The document could not be fetched: ${error.message}.`)
  }
}

async function readSource(parts: ImportParts, ctx: Context, input: ImportRequest): Promise<Read> {
  if (input.piece !== undefined) {
    const read = await readPiece(parts, ctx, { name: input.piece, version: input.piece_version })
    return { ...read, sha256: read.package.integrity, baseUrl: '' }
  }
  if (input.mcp_package !== undefined) {
    const read = await readProgram(parts, ctx, input)
    return { ...read, sha256: read.package.integrity, baseUrl: '' }
  }
  if (input.mcp_url === undefined) return readDocument(parts, ctx, input)
  const document = await readTools(parts, ctx, { url: input.mcp_url, credentialId: input.credential_id })
  const sha256 = createHash('sha256').update(JSON.stringify(document.actions)).digest('hex')
  return { document, sha256, baseUrl: document.summary.base_url }
}

async function readDocument(parts: ImportParts, ctx: Context, input: ImportRequest): Promise<Read> {
  const bytes = await bytesOf(parts, ctx, input)
  try {
    const document = await parts.openapi.compile({
      workspaceId: ctx.workspace.workspace_id,
      bytes,
      options: {
        ...(input.url !== undefined && { url: input.url }),
        ...(input.base_url !== undefined && { base_url: input.base_url }),
      },
      signal: ctx.signal,
    })
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { document, sha256, baseUrl: document.summary.base_url }
  } catch (error) {
    if (!(error instanceof DocumentFailure)) throw error
    throw invalid([{ path: input.document === undefined ? '/url' : '/document', message: error.message }])
  }
}

type Changes = NonNullable<ServiceImport['changes']>

const isSame = (before: store.ActionRow, after: ActionHead): boolean =>
  before.method === after.method && before.path === after.path && before.title === after.title

/** Compares a document with the stored service of the same name. */
async function changesOf(
  tx: Tx,
  workspaceId: string,
  present: store.ImportedRow,
  { actions }: CompiledDocument,
): Promise<Changes> {
  const before = new Map(
    (await store.listActionHeads(tx, workspaceId, present.service_id)).map((action) => [action.name, action]),
  )
  const after = new Map(actions.map(({ head }) => [head.name, head]))
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after.values()].flatMap((action) => {
      const known = before.get(action.name)
      return known && !isSame(known, action) ? [action.name] : []
    }),
  }
}

const serviceOf = ({ name, piece }: ImportRequest): string =>
  piece === undefined ? IMPORTED + name : pieceService(piece)

function kindOf({ piece, mcp_url, mcp_package }: ImportRequest): store.ImportedRow['kind'] {
  if (piece !== undefined) return 'piece'
  if (mcp_package !== undefined) return 'mcp_program'
  return mcp_url !== undefined ? 'mcp' : 'openapi'
}

const shown = (service: string, read: Read, input: ImportRequest): Omit<ServiceImport, 'changes'> => {
  const { summary, actions } = read.document
  return {
    service,
    title: input.title ?? summary.title,
    description: summary.description,
    version: summary.version,
    base_url: summary.base_url,
    auth: summary.auth,
    credential_required: summary.credential_required,
    actions: actions.map(({ head }) => head),
    notes: summary.notes,
    skipped: summary.skipped,
    triggers: (read.triggers ?? []).map(({ name, title, description, kind }) => ({ name, title, description, kind })),
    package: packageOf(read.package ?? null),
  }
}

/** Returns what an import would create, without storing anything. */
export async function previewServiceImport(
  parts: ImportParts,
  ctx: Context,
  input: ImportRequest,
): Promise<ServiceImport> {
  const read = await readSource(parts, ctx, input)
  const { workspace_id } = ctx.workspace
  const service = serviceOf(input)
  const changes = await ctx.db.tenant(scopeOf(ctx), async (tx) => {
    const present = await store.findImported(tx, workspace_id, service)
    return present ? changesOf(tx, workspace_id, present, read.document) : null
  })
  return { ...shown(service, read, input), changes }
}

export async function importService(parts: ImportParts, ctx: Context, input: ImportRequest): Promise<ServiceImport> {
  const { workspace_id } = ctx.workspace
  const service = serviceOf(input)
  // Refuses before the document is downloaded and parsed unnecessarily.
  await ctx.db.tenant(scopeOf(ctx), (tx) => requireRoom(tx, ctx, service, input, 0))
  const read = await readSource(parts, ctx, input)
  const { document, sha256, baseUrl } = read
  if (baseUrl === null)
    throw invalid([{ path: '/base_url', message: 'is required: the document names no server with a full address' }])
  return ctx.db.tenant(scopeOf(ctx), async (tx) => {
    await store.lockImports(tx, workspace_id)
    const present = await requireRoom(tx, ctx, service, input, document.actions.length)
    const changes = present ? await changesOf(tx, workspace_id, present, document) : null
    const { summary } = document
    const serviceId = await store.saveImported(tx, workspace_id, ctx.person.user_id, {
      service_id: newId(),
      service,
      kind: kindOf(input),
      title: input.title ?? summary.title,
      description: summary.description,
      version: summary.version,
      base_url: baseUrl,
      reference: summary.reference,
      source_url: input.url ?? input.mcp_url ?? null,
      sha256,
      auth: summary.auth,
      credential_required: summary.credential_required,
      actions: document.actions,
      package: read.package ?? null,
      triggers: read.triggers ?? [],
      lock: read.lock ?? null,
    })
    const data = { service, actions: document.actions.length, sha256 }
    await recordAudit(ctx, tx, { action: 'service.imported', subject: toWire('svc', serviceId), data })
    return { ...shown(service, read, input), changes }
  })
}

/** Returns the existing service, if any. Refuses if it may not be replaced or if a limit would be exceeded. */
async function requireRoom(
  tx: Tx,
  ctx: Context,
  service: string,
  { replace }: ImportRequest,
  actions: number,
): Promise<store.ImportedRow | undefined> {
  const { workspace_id } = ctx.workspace
  const present = await store.findImported(tx, workspace_id, service)
  if (present && !replace)
    throw problem('already_exists', `A service "${service}" already exists; send "replace": true to replace it.`)
  if (present) requireMay(ctx, present)
  const others = await store.countOthers(tx, workspace_id, service)
  if (others.services >= MAX_SERVICES)
    throw problem('conflict', `A workspace imports at most ${MAX_SERVICES} services; delete one first.`)
  if (others.actions + actions > MAX_ACTIONS)
    throw problem('conflict', `The imported services of a workspace have at most ${MAX_ACTIONS} actions together.`)
  return present
}

/** Workflows of other people may call the service, so only its creator and owners of the workspace may change it. */
function requireMay(ctx: Context, { created_by }: store.ImportedRow): void {
  if (created_by !== ctx.person.user_id && ctx.workspace.role !== 'owner')
    throw problem('forbidden', 'Only the person who imported a service and owners of the workspace may change it.')
}

export async function requireMayDelete(ctx: Context, { service }: { service: string }): Promise<store.ImportedRow> {
  const present = await store.findImported(ctx.tx, ctx.workspace.workspace_id, service)
  if (!present) throw problem('not_found')
  requireMay(ctx, present)
  return present
}

export async function deleteService(ctx: Context, { service }: { service: string }): Promise<void> {
  const { workspace_id } = ctx.workspace
  const present = await requireMayDelete(ctx, { service })
  await store.deleteImported(ctx.tx, workspace_id, service)
  const subject = toWire('svc', present.service_id)
  await recordAudit(ctx, ctx.tx, { action: 'service.deleted', subject, data: { service } })
}
