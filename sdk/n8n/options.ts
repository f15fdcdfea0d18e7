import type { JsonObject } from '#model/definition'
import type { Kinds } from '#model/graph'
import type { Catalogue, ConvertOptions } from '#model/n8n/types'
import type { NodeDescriptor } from '#model/node'
import type { Client } from '../client.ts'
import { all } from '../lists.ts'

// The data that the converter needs from a service. The command line and the console request it.

type Asked = Pick<Client, 'getPalette' | 'listServices' | 'getService' | 'listCredentials'>

/** Returns the node types and services that the converter can use. */
export async function optionsFrom(client: Asked): Promise<ConvertOptions> {
  const { groups } = await client.getPalette()
  const kinds: Kinds = new Map(
    groups.flatMap(({ nodes }) => nodes.map((node) => [node.type, node as unknown as NodeDescriptor])),
  )
  return { kinds, services: kinds.has('service.call') ? await catalogueFrom(client) : new Map() }
}

async function catalogueFrom(client: Asked): Promise<Catalogue> {
  const found = new Map<string, ReadonlyMap<string, JsonObject>>()
  for await (const { service } of all(client.listServices)) {
    const { actions } = await client.getService({ service })
    found.set(service, new Map(actions.map(({ name, args_schema }) => [name, args_schema as JsonObject])))
  }
  return found
}

/** Returns the credentials of the workspace by name. A name that two credentials have is left out. */
export async function credentialIds(client: Asked): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  const twice = new Set<string>()
  for await (const { credential_id, name } of all(client.listCredentials)) {
    if (ids.has(name)) twice.add(name)
    ids.set(name, credential_id)
  }
  for (const name of twice) ids.delete(name)
  return ids
}
