import { isObject } from '#model/json'
import type { NodeDescriptor } from '#model/node'
import { changeTexts } from '#model/node-texts'
import type { Palette } from '#sdk/types.generated'
import { language, t } from '#web/words/language.ts'

/** A kind of node as the palette describes it; the editor has no built-in kinds. */
export type Kind = NodeDescriptor & { available: boolean; unavailable_reason: string | null }
export type KindGroup = { title: string; kinds: Kind[] }
export type KindTable = ReadonlyMap<string, Kind>
export type Kinds = { groups: KindGroup[]; table: KindTable }

/** Reads the palette. The response contains more than its schema declares: icon, colour, keywords and defaults. */
export function readKinds(palette: Palette, alone = false): Kinds {
  const groups = palette.groups.map(({ title, nodes }) => ({
    title: t(title),
    kinds: (nodes as unknown as Kind[])
      .map((kind) => (language === 'en' ? kind : changeTexts(kind, t)))
      .map((kind) => (alone && kind.type === 'approval' ? forOneself(kind) : kind)),
  }))
  return { groups, table: new Map(groups.flatMap(({ kinds }) => kinds.map((kind) => [kind.type, kind]))) }
}

/**
 * Allows self-approval for a single member of a workspace. Otherwise no person could open the member's gates, because
 * by default the person who starts an execution does not vote on it.
 */
function forOneself(kind: Kind): Kind {
  const policy = isObject(kind.defaults.policy) ? kind.defaults.policy : {}
  return { ...kind, defaults: { ...kind.defaults, policy: { ...policy, allow_self: true } } }
}
