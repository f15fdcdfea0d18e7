import type { Execution } from '#sdk/types.generated'
import type { Kind, KindTable } from '../kinds.ts'
import type { Doc, GraphPath } from './document.ts'
import { type Branch, branchesOf, sourcesFor } from './upstream.ts'
import { further } from './value.ts'

const MAX_DEPTH = 3

type Place = Pick<Branch, 'schema' | 'sample'> & { reference: string }

/** Sets the nearest list as the items of a new "For each", instead of an undeclared field. */
export function withFirstList(
  kind: Kind,
  doc: Doc,
  path: GraphPath,
  after: string | undefined,
  kinds: KindTable,
  last: Execution | null,
): Kind {
  if (kind.type !== 'map') return kind
  const reader = after === undefined ? { kind: 'node' as const, id: '' } : { kind: 'edge' as const, from: after }
  const sources = sourcesFor(doc, path, reader, kinds, last).filter(({ reference }) =>
    /^(nodes|input)\b/.test(reference),
  )
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    const list = sources.flatMap((source) => level(source, depth)).find(isList)
    if (list) return { ...kind, defaults: { ...kind.defaults, items: { $ref: list.reference } } }
  }
  return kind
}

const isList = ({ schema, sample }: Place): boolean =>
  sample === undefined ? schema?.type === 'array' : Array.isArray(sample)

const level = (place: Place, depth: number): Place[] =>
  depth === 0
    ? [place]
    : branchesOf(place)
        .filter(({ key }) => typeof key === 'string')
        .flatMap(({ key, ...branch }) => level({ ...branch, reference: further(place.reference, key) }, depth - 1))
