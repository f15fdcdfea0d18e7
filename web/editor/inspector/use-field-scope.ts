import { useMemo } from 'react'
import type { JsonObject } from '#model/definition'
import { useAll } from '#web/api.ts'
import { useMe } from '#web/session.tsx'
import { graphAt } from '../document/document.ts'
import type { Place, Problem } from '../document/problems.ts'
import { type Reader, sourcesFor } from '../document/upstream.ts'
import { type FieldScope, sampleScope } from '../fields/scope.tsx'
import { useDoc, useEditor, useEditorStore } from '../store.ts'
import { useProblems } from '../use-problems.ts'
import { useInnerData } from './use-inner-data.ts'

const samePlace = (place: Place, path: readonly string[], kind: Place['kind'], id: string | undefined): boolean =>
  place.kind === kind &&
  place.path.length === path.length &&
  place.path.every((step, index) => step === path[index]) &&
  (id === undefined || ('id' in place && place.id === id))

/** Returns the scope that the fields of one node, edge or result share. */
export function useFormScope(kind: Place['kind'], id: string | undefined, reader: Reader): FieldScope {
  const store = useEditorStore()
  const doc = useDoc()
  const path = useEditor((state) => state.path)
  const execution = useEditor((state) => state.execution)
  const readOnly = useEditor((state) => state.readOnly || state.comparison !== null)
  const problems = useProblems()
  const vars = useVariables()
  const inner = useInnerData()
  const readerKey = JSON.stringify(reader)
  return useMemo(() => {
    const sources = sourcesFor(doc, path, JSON.parse(readerKey) as Reader, store.kinds.table, execution, vars, inner)
    const own = problems.filter(({ place }) => samePlace(place, path, kind, id))
    return {
      sources,
      sample: sampleScope(sources, execution !== null),
      problemAt: (pointer) => ownMessage(own, 'error', pointer),
      warningAt: (pointer) => ownMessage(own, 'warning', pointer),
      kinds: store.kinds,
      own: kind === 'node' ? graphAt(doc, path)?.nodes.find((node) => node.id === id)?.args : undefined,
      readOnly,
    }
  }, [doc, path, execution, vars, inner, readOnly, problems, readerKey, kind, id, store])
}

/** Returns the variables of the workspace, for the list of data to select from; guests see none. */
function useVariables(): JsonObject | undefined {
  const { workspace } = useMe()
  const enabled = workspace !== null && workspace !== undefined && workspace.role !== 'guest'
  const { data } = useAll('listVariables', { limit: 200 }, { enabled, staleTime: 60_000 })
  return useMemo(() => data && (Object.fromEntries(data.map(({ name, value }) => [name, value])) as JsonObject), [data])
}

/** Returns the message for the field itself, without the field name before the colon, which would repeat the label. */
function ownMessage(problems: readonly Problem[], wanted: Problem['level'], pointer: string): string | undefined {
  const found = problems.find(({ place, level }) => level === wanted && place.field === pointer)
  return found?.message.replace(/^[^:]*: /, (lead) => (found.place.field === '' ? lead : ''))
}
