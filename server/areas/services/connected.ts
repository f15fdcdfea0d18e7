import { type CredentialsFor, listCredentialsFor } from '#areas/credentials/service'
import { isImportedName } from '#engine/nodes/service-call'
import { problem } from '#platform/errors'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import type { Catalogue } from '#providers/services/catalogue'
import { listErrors } from './error-store.ts'
import * as store from './import-store.ts'

// What the page of a service shows besides its actions: the connected accounts and the recent failures.

type One = { service: string }

export async function listServiceCredentials(
  catalogue: Catalogue,
  ctx: Context,
  { service, ...asked }: One & ListInput,
) {
  const builtIn = catalogue.get(service)
  const wanted = builtIn ? { services: builtIn.credentials } : credentialsOf(await findImported(ctx, service))
  return listCredentialsFor(ctx, wanted, asked)
}

async function findImported(ctx: Context, service: string): Promise<store.ImportedRow> {
  const row = isImportedName(service)
    ? await store.findImported(ctx.tx, ctx.workspace.workspace_id, service)
    : undefined
  if (!row) throw problem('not_found')
  return row
}

function credentialsOf({ service, kind, base_url, auth }: store.ImportedRow): CredentialsFor {
  if (kind === 'piece') {
    const addresses = auth.map(({ config }) => config.token_url)
    return { piece: service, tokenUrls: addresses.filter((url): url is string => typeof url === 'string') }
  }
  // It is unknown where the program of a package sends its requests.
  return kind === 'mcp_program' || !URL.canParse(base_url) ? {} : { url: new URL(base_url) }
}

export async function listServiceErrors(catalogue: Catalogue, ctx: Context, { service, ...asked }: One & ListInput) {
  if (!catalogue.has(service)) await findImported(ctx, service)
  return listErrors(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, service, asked)
}
