import { isObject } from '#model/json'
import type { NodeDescriptor } from '#model/node'
import { changeTexts } from '#model/node-texts'
import type { Palette } from '#sdk/types.generated'
import { language, t } from '#web/words/language.ts'

/** A kind of node as the palette describes it; the editor knows no kinds of its own. */
export type Kind = NodeDescriptor & { available: boolean; unavailable_reason: string | null }
export type KindGroup = { title: string; kinds: Kind[] }
export type KindTable = ReadonlyMap<string, Kind>
export type Kinds = { groups: KindGroup[]; table: KindTable }

/** The answer carries more than its schema says: icon, colour, keywords and defaults. */
export function readKinds(palette: Palette, alone = false): Kinds {
  const groups = palette.groups.map(({ title, nodes }) => ({
    title: t(title),
    kinds: (nodes as unknown as Kind[])
      .map((kind) => (language === 'en' ? kind : changeTexts(kind, t)))
      .map((kind) => (alone && kind.type === 'approval' ? forOneself(kind) : kind)),
  }))
  return { groups, table: new Map(groups.flatMap(({ kinds }) => kinds.map((kind) => [kind.type, kind]))) }
}

/** A person alone in a workspace would draw a gate that nobody can open: the person who starts a run does not vote on it by default. */
function forOneself(kind: Kind): Kind {
  const policy = isObject(kind.defaults.policy) ? kind.defaults.policy : {}
  return { ...kind, defaults: { ...kind.defaults, policy: { ...policy, allow_self: true } } }
}
