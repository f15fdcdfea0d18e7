import type { z } from 'zod'
import { isProblem } from '#platform/errors'
import { parseJson } from '#platform/http/body'
import type { Context } from '#platform/http/context'
import { newId, toWire } from '#platform/ids'
import { isAllowedRedirect } from './redirects.ts'
import { refuse } from './refusal.ts'
import { ClientMetadata, SCOPE } from './schema.ts'
import * as store from './store.ts'

// Programs register themselves (RFC 7591). A registration grants no access: its content is shown to the person who
// decides.

/**
 * The maximum number of registered programs that no person has allowed yet. Anybody can register programs, so a newcomer
 * is never refused: the oldest make room.
 */
const MAX_UNUSED = 10_000
const MAX_NAME = 100

const readMetadata = (body: Buffer, maxDepth: number): z.output<typeof ClientMetadata> => {
  try {
    const read = ClientMetadata.safeParse(parseJson(body, maxDepth))
    if (read.success) return read.data
  } catch (error) {
    if (!isProblem(error)) throw error
  }
  return refuse('invalid_client_metadata', 'send JSON with 1 to 10 redirect_uris')
}

/** Removes invisible, direction-changing and line-breaking characters: the name is part of a question to a person. */
const shownName = (name: string | undefined): string =>
  (name ?? '')
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, MAX_NAME)
    .toWellFormed() || 'A program without a name'

export async function registerClient(ctx: Context, body: Buffer): Promise<object> {
  const { redirect_uris, client_name } = readMetadata(body, ctx.config.HEDDLE_MAX_JSON_DEPTH)
  if (!redirect_uris.every(isAllowedRedirect))
    refuse('invalid_redirect_uri', 'redirect_uris are https, http on localhost, or the scheme of a program')
  const client = { client_id: newId(), name: shownName(client_name), redirect_uris }
  await ctx.db.tenant({ workspaceId: null, userId: null }, (tx) => store.insertClient(tx, client, MAX_UNUSED))
  return {
    client_id: toWire('oac', client.client_id),
    client_id_issued_at: Math.floor(Date.now() / 1000),
    client_name: client.name,
    redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: SCOPE,
  }
}
