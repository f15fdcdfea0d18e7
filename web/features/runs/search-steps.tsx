import { useRouter, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import type { Definition } from '#model/definition'
import type { Execution } from '#sdk/types.generated'
import { type Check, loadCheck } from '#web/editor/check/load.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { cx } from '#web/ui/cx.ts'
import { plural } from '#web/ui/format.ts'
import { emptyWith, type Search, SearchField, useSearchText } from '#web/ui/search.tsx'
import { type FoundStep, findSteps, stepsIn } from './find-steps.ts'
import { useKindTitles } from './kind-titles.ts'

type Props = {
  execution: Execution
  definition: Pick<Definition, 'nodes'>
  selected: string | null
  onSelect(address: string): void
  /** Shown while there is no search. */
  children: ReactNode
}

/** A search in the steps of an execution, kept in the address as `q` so that users can share the result. */
export function SearchSteps({ execution, definition, selected, onSelect, children }: Props) {
  const search = useSearchInAddress(execution.execution_id)
  const steps = useSteps(execution, definition, search.query.q !== undefined)
  if (definition.nodes.length < 2 && search.text === '') return children
  const found = search.query.q === undefined ? null : findSteps(steps, search.query.q)
  return (
    <>
      <div className="mb-3 flex max-w-md">
        <SearchField
          search={search}
          label="Find a step"
          placeholder="Find a step by name, kind, input, output or error"
        />
      </div>
      {found === null ? (
        children
      ) : found.length === 0 ? (
        emptyWith(search, null)
      ) : (
        <>
          <p role="status" className="mb-1 px-2 text-xs text-ink-2">
            {plural(found.length, 'step', 'steps')}
          </p>
          <ol aria-label="Steps found" className="flex flex-col">
            {found.map((step) => (
              <li key={step.address}>
                <Row step={step} selected={step.address === selected} onSelect={() => onSelect(step.address)} />
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  )
}

const Row = ({ step, selected, onSelect }: { step: FoundStep; selected: boolean; onSelect(): void }) => (
  <button
    type="button"
    aria-pressed={selected}
    onClick={onSelect}
    className={cx(
      'flex w-full items-center gap-3 rounded px-2 py-1.5 text-left hover:bg-hover',
      selected && 'bg-hover',
    )}
  >
    <span className="min-w-0 flex-1 truncate">{step.names.join(' › ')}</span>
    {step.run && <StatusBadge status={step.run.status} />}
  </button>
)

function useSearchInAddress(execution_id: string): Search {
  const { q: given = '' } = useSearch({ strict: false }) as { q?: string }
  const search = useSearchText(given)
  const router = useRouter()
  const { q = '' } = search.query
  useEffect(() => {
    const to = `/runs/${execution_id}`
    // Does not navigate if the user has moved to another page.
    if (q === given || router.latestLocation.pathname !== to) return
    const next = (before: object) => ({ ...before, q })
    void router.navigate({ to, search: next as never, replace: true, resetScroll: false })
  }, [router, execution_id, q, given])
  return search
}

/** Returns the steps; nothing is computed before the user searches. */
function useSteps(execution: Execution, definition: Pick<Definition, 'nodes'>, isWanted: boolean): FoundStep[] {
  const titleOf = useKindTitles()
  const [check, setCheck] = useState<Check>()
  useEffect(() => {
    if (isWanted) void loadCheck().then(setCheck)
  }, [isWanted])
  return useMemo(
    () => (isWanted ? stepsIn({ execution, definition, titleOf, check }) : []),
    [isWanted, execution, definition, titleOf, check],
  )
}
