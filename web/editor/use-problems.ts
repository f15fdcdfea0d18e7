import { useEffect, useMemo } from 'react'
import { loadCheck } from './check/load.ts'
import { type Problem, toProblem, unavailable } from './document/problems.ts'
import { useEditor, useEditorStore } from './store.ts'

/**
 * The delay before a check in ms. Checking 500 nodes takes 40 ms, measured: a larger graph waits longer for a pause in
 * typing.
 */
const waitFor = (nodes: number): number => 120 + nodes

/** Checks the document shortly after it changed, with the same code as the service. */
export function useLiveCheck(): void {
  const store = useEditorStore()
  const doc = useEditor((state) => state.history.present)
  useEffect(() => {
    let current = true
    const timer = setTimeout(async () => {
      const { check, warnings } = await loadCheck()
      if (!current) return
      const issues = check(doc, store.kinds.table)
      const warned = warnings(doc, store.kinds.table)
      store.set({
        problems: [
          ...issues.map((issue) => toProblem(doc, issue)),
          ...warned.map((issue) => ({ ...toProblem(doc, issue), level: 'warning' as const })),
          ...unavailable(doc, store.kinds.table),
        ],
      })
    }, waitFor(doc.nodes.length))
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [doc, store])
}

/** Returns the problems found in the browser, and the errors that the service added. */
export function useProblems(): readonly Problem[] {
  const problems = useEditor((state) => state.problems)
  const refused = useEditor((state) => state.refused)
  return useMemo(() => {
    const known = new Set(problems.map(({ where, message }) => `${where}\n${message}`))
    return [...problems, ...refused.filter(({ where, message }) => !known.has(`${where}\n${message}`))]
  }, [problems, refused])
}
