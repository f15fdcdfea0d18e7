import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '#web/api.ts'
import { cx } from '#web/ui/cx.ts'
import { Field, Input } from '#web/ui/field.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { Picture } from './picture.tsx'
import type { Recipe } from './recipe.ts'
import { recipes as written } from './recipes.ts'
import { changeOffered } from './texts.ts'

const recipes: readonly Recipe[] = written.map((recipe) => changeOffered(recipe, t))
const useCases: readonly string[] = [...new Set(recipes.map(({ use }) => use))]

const matches = ({ name, description, use, needs = '' }: Recipe, search: string): boolean =>
  search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => `${name} ${description} ${use} ${needs}`.toLowerCase().includes(word))

/** Workflows by use case; one click creates a copy with sample data, ready to run. */
export function Gallery() {
  const navigate = useNavigate()
  const [search, setSearch] = useState('')
  const [use, setUse] = useState<string | null>(null)
  const create = useChange('createWorkflow', { stale: ['listWorkflows'], failed: 'Could not create the workflow' })
  const found = recipes.filter((recipe) => (use === null || recipe.use === use) && matches(recipe, search))
  const begin = ({ name, description, definition }: Recipe): void =>
    create.mutate(
      { name, description, definition },
      {
        onSuccess: ({ workflow_id }) =>
          void navigate({ to: `/workflows/${workflow_id}`, search: { run: 'yes' } as never }),
      },
    )
  return (
    <Section
      title="Gallery"
      description="Each example has sample data. Most run offline without changes; the others list what they need."
    >
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <Field label="Search the gallery" className="w-64">
          <Input type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
        </Field>
        <div className="flex flex-wrap gap-1.5">
          {[null, ...useCases].map((each) => (
            <button
              key={each ?? 'all'}
              type="button"
              aria-pressed={use === each}
              onClick={() => setUse(each)}
              className={cx(
                'h-8 rounded-full border px-3 text-xs',
                use === each
                  ? 'border-accent bg-accent-soft text-accent-strong'
                  : 'border-line text-ink-2 hover:bg-hover',
              )}
            >
              {each ?? 'All'}
            </button>
          ))}
        </div>
      </div>
      {found.length === 0 && <Empty title="Nothing matches">Try other words, or another use case.</Empty>}
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {found.map((recipe) => (
          <li key={recipe.id}>
            <button
              type="button"
              disabled={create.isPending}
              onClick={() => begin(recipe)}
              className="flex h-full w-full flex-col gap-2 rounded-lg border border-line bg-surface p-4 text-left hover:border-accent hover:bg-hover disabled:opacity-60"
            >
              <Picture definition={recipe.definition} />
              <span className="font-medium">{recipe.name}</span>
              <span className="text-ink-2">{recipe.description}</span>
              <span className="mt-auto text-xs text-ink-3">{recipe.needs ? `Needs: ${recipe.needs}` : recipe.use}</span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}
