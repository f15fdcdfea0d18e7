import type { Definition } from '#model/definition'
import { allNodesWithPaths } from '#model/graph-ids'
import type { Issue } from '#model/issue'
import type { Tx } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import type { Catalogue } from '#providers/services/catalogue'

/** Describes a credential without decrypting it. */
export type DescribeCredential = (
  tx: Tx,
  workspaceId: string,
  credentialId: string,
) => Promise<{ name: string; service: string | null; kind: string } | undefined>

/**
 * Checks whether the credentials of a definition's `service.call` nodes fit the services. A credential that names no
 * service fits if the service accepts its kind; its hosts then decide.
 */
export async function checkServiceCredentials(
  {
    catalogue,
    describe,
    kindsOf,
  }: {
    catalogue: Catalogue
    describe: DescribeCredential
    kindsOf(presets: readonly string[]): readonly string[]
  },
  tx: Tx,
  workspaceId: string,
  definition: Definition,
): Promise<Issue[]> {
  const issues: Issue[] = []
  for (const { node, path } of allNodesWithPaths(definition)) {
    const { service: named, credential_id } = node.args ?? {}
    if (node.type !== 'service.call' || typeof named !== 'string' || typeof credential_id !== 'string') continue
    const service = catalogue.get(named)
    const credentialId = fromWire('cred', credential_id)
    const found = credentialId && (await describe(tx, workspaceId, credentialId))
    // A missing credential is reported by the check of references.
    if (!service || !found) continue
    const fits =
      found.service === null
        ? kindsOf(service.credentials).includes(found.kind)
        : service.credentials.includes(found.service)
    if (!fits)
      issues.push({
        path: `${path}/args/credential_id`,
        message: `"${found.name}" is not for ${service.title}; it takes a credential for ${service.credentials.join(' or ')}`,
      })
  }
  return issues
}
