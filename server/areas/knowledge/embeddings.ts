import { llmProviders } from '#areas/credentials/kinds'
import type { Asker, WatchEmbed } from '#areas/insights/metering'
import type { JsonObject } from '#model/definition'
import type { OutgoingCredential } from '#platform/outgoing/credential'
import type { Outgoing } from '#platform/outgoing/outgoing'
import { type Embed, makeRequestVectors, type RequestVectors } from '#providers/llm/embeddings'

export type { Embed }

export type EmbedParts = {
  outgoing: Pick<Outgoing, 'fetchWith'>
  /** Opens a credential with its settings for a person. Throws if the person may not use it. */
  openModel(wanted: { workspaceId: string; credentialId: string; userId: string | null }): Promise<{
    credential: OutgoingCredential
    config: JsonObject
    address: string | null
  }>
  /** The installation's own model, limited by the quotas of the workspace. Null if there is none for tenants. */
  installation: { model: string; name: string; askFor(workspaceId: string): RequestVectors } | null
  /** Counts the calls and enforces the budgets. */
  watchEmbed: WatchEmbed
}

/** The caller of the model. By default, the owner of the base. */
export type EmbedAsker = Pick<Asker, 'principal' | 'nodePath'>

const ANSWER_WITHIN_MS = 60_000

/** The model that creates the vectors of a base. */
export type Embedding = {
  embedding_credential_id: string | null
  /** Whether the model is the installation's own. */
  embedding_installation: boolean
  embedding_model: string | null
}
type Base = Embedding & { owner_id: string | null }

/**
 * Returns the function that converts texts to vectors for a base. It uses the credential of the base's owner, or the
 * installation's model. Undefined if the base has no model or may not use it. Vectors of another model than the one
 * that indexed the base cannot be compared.
 */
export async function embedderFor(
  parts: EmbedParts,
  workspaceId: string,
  base: Base,
  asker: EmbedAsker = { principal: { userId: base.owner_id } },
): Promise<Embed | undefined> {
  const { embedding_credential_id: credentialId, embedding_model: model, owner_id } = base
  if (base.embedding_installation) {
    const { installation, watchEmbed } = parts
    if (installation === null || installation.model !== model) return undefined
    const counted = { ...asker, workspaceId, credentialId: null, model: installation.name }
    return watchEmbed(installation.askFor(workspaceId), counted)
  }
  if (credentialId === null || model === null) return undefined
  try {
    const opened = await parts.openModel({ workspaceId, credentialId, userId: owner_id })
    if (opened.address === null) return undefined
    const fetch = parts.outgoing.fetchWith(opened.credential, { timeoutMs: ANSWER_WITHIN_MS })
    const provider = llmProviders.find((name) => name === opened.config.provider) ?? 'openai-compatible'
    return parts.watchEmbed(makeRequestVectors({ fetch, address: opened.address, model, provider }), {
      ...asker,
      workspaceId,
      credentialId,
      model: `${provider}/${model}`,
    })
  } catch {
    return undefined
  }
}

export const toBytes = (vector: Float32Array): Buffer =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)

/** Copies the bytes, because a buffer of the database driver may not be aligned for numbers. */
export const toVector = (bytes: Buffer): Float32Array => {
  const copy = new Uint8Array(bytes.length - (bytes.length % 4))
  copy.set(bytes.subarray(0, copy.length))
  return new Float32Array(copy.buffer)
}

/** Returns one bit for each component: whether it is positive. Similar vectors have most bits in common. */
export const signsOf = (vector: Float32Array): string => {
  let bits = ''
  for (const component of vector) bits += component > 0 ? '1' : '0'
  return bits
}
