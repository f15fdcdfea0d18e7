import type { Keys, Vault } from '../secrets.ts'

// The values about keys in the table `installation`. During a rotation, each key is sealed with the other one, so that
// a process that has one key can open both.

export type Facts = ReadonlyMap<string, Buffer>

export const CURRENT = 'current_key'
/**
 * Present only if the key of the installation was never rotated: the id of the key that a copy of the database needs.
 */
export const FIRST = 'key_id'
export const ROTATION = 'rotation'
export const SIGNING = 'signing_root'
export const CHECK = 'key_check'

const RING = /^ring:([0-9a-f]{16}):([0-9a-f]{16})$/
export const ringName = (from: string, to: string): string => `ring:${from}:${to}`
export const factPlace = (name: string) => ['', 'installation', 'key', name] as const

export type Rotation = {
  from: string
  to: string
  phase: 'announced' | 'sealing' | 'restarting'
  started_at: string
  sealed: number
}

export const rotationIn = (facts: Facts): Rotation | undefined => {
  const row = facts.get(ROTATION)
  return row && (JSON.parse(row.toString()) as Rotation)
}

/**
 * Adds every key that a known key can open, and starts to seal with the current key. Returns false if the current key
 * is still unknown.
 */
export function learnKeys(vault: Vault, facts: Facts): boolean {
  for (let learnt = true; learnt; ) {
    learnt = false
    for (const [name, sealed] of facts) {
      const [, from = '', to = ''] = RING.exec(name) ?? []
      if (from === '' || !vault.keys.has(from) || vault.keys.has(to)) continue
      vault.keys.add(Buffer.from(vault.open(factPlace(name), sealed), 'base64'))
      learnt = true
    }
  }
  const current = facts.get(CURRENT)?.toString()
  if (current === undefined) return true
  if (!vault.keys.has(current)) return false
  vault.keys.use(current)
  return true
}

/** Returns each of the two keys, sealed with the other one. */
export const ringOf = (keys: Keys, from: string, to: string): [name: string, sealed: Buffer][] =>
  [
    [from, to],
    [to, from],
  ].map(([under, inner]) => {
    const name = ringName(under!, inner!)
    return [name, keys.sealWith(under!, factPlace(name), keys.bytesOf(inner!).toString('base64'))]
  })
