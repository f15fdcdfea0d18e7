import type { NodeDescriptor } from '#model/node'
import type { Palette } from '#sdk/types.generated'

/** A kind of node as the palette describes it; the editor knows no kinds of its own. */
export type Kind = NodeDescriptor & { available: boolean; unavailable_reason: string | null }
export type KindGroup = { title: string; kinds: Kind[] }
export type KindTable = ReadonlyMap<string, Kind>
export type Kinds = { groups: KindGroup[]; table: KindTable }

/** The answer carries more than its schema says: icon, colour, keywords and defaults. */
export function readKinds(palette: Palette): Kinds {
  const groups = palette.groups.map(({ title, nodes }) => ({ title, kinds: nodes as unknown as Kind[] }))
  return { groups, table: new Map(groups.flatMap(({ kinds }) => kinds.map((kind) => [kind.type, kind]))) }
}
