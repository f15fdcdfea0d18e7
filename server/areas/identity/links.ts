import type { Tx } from '#platform/db/pool'
import type { Context } from '#platform/http/context'

/**
 * Returns the base URL for the people of this org: the configured address, or the org's own host if the configured
 * address serves another org. Never the Host of the request, which the caller can choose.
 */
export async function orgBaseUrl(ctx: Pick<Context, 'org' | 'baseUrl'>, tx: Tx): Promise<string> {
  const hosts = await tx.rows<{ host: string }>('select host from org_hosts where org_id = $1 order by host', [
    ctx.org.org_id,
  ])
  const base = new URL(ctx.baseUrl)
  const first = hosts[0]
  if (!first || hosts.some(({ host }) => host === base.host || host === base.hostname)) return ctx.baseUrl
  return `${base.protocol}//${first.host}`
}
