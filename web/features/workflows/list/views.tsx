import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { useMe } from '#web/session.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { type Filters, filtersIn, hasFilters, sameFilters } from './state.ts'

type View = { name: string; filters: Filters }

const MAX_VIEWS = 20

/** Filters that this person has named; kept in this browser, for each workspace. */
function useViews(): [View[], (views: View[]) => void] {
  const { workspace } = useMe()
  const key = `heddle.views.workflows.${workspace?.workspace_id ?? ''}`
  const [views, setViews] = useState(() => read(key))
  return [
    views,
    (next) => {
      localStorage.setItem(key, JSON.stringify(next))
      setViews(next)
    },
  ]
}

function read(key: string): View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    if (!Array.isArray(kept)) return []
    return kept.flatMap((one: unknown) => {
      const { name, filters } = (one ?? {}) as { name?: unknown; filters?: unknown }
      return typeof name === 'string' ? [{ name, filters: filtersIn(filters) }] : []
    })
  } catch {
    return []
  }
}

export function SavedViews({ filters, onOpen }: { filters: Filters; onOpen(filters: Filters): void }) {
  const [views, setViews] = useViews()
  const [naming, setNaming] = useState(false)
  const isSaved = views.some((view) => sameFilters(view.filters, filters))
  const maySave = hasFilters(filters) && !isSaved && views.length < MAX_VIEWS
  if (views.length === 0 && !maySave) return null
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      {views.length > 0 && (
        <ul aria-label="Saved views" className="flex flex-wrap gap-2">
          {views.map((view) => (
            <li
              key={view.name}
              className={cx(
                'flex items-center rounded-md border bg-surface',
                sameFilters(view.filters, filters) ? 'border-accent' : 'border-line',
              )}
            >
              <button
                type="button"
                aria-pressed={sameFilters(view.filters, filters)}
                onClick={() => onOpen(view.filters)}
                className="max-w-52 truncate rounded-md py-1 pl-2.5 text-sm hover:underline"
              >
                {view.name}
              </button>
              <IconButton
                icon={X}
                size="small"
                label={`Remove the view ${view.name}`}
                onClick={() => setViews(views.filter((other) => other !== view))}
              />
            </li>
          ))}
        </ul>
      )}
      {maySave && (
        <Button size="small" look="quiet" icon={Bookmark} onClick={() => setNaming(true)}>
          Save view
        </Button>
      )}
      {naming && (
        <Dialog
          open
          onClose={() => setNaming(false)}
          title="Save view"
          description="Keeps these filters under a name, in this browser."
        >
          <Form<{ name: string }>
            submit="Save view"
            onCancel={() => setNaming(false)}
            onSubmit={async ({ name }) => {
              const named = name.trim()
              setViews([...views.filter((view) => view.name !== named), { name: named, filters }])
              setNaming(false)
            }}
          >
            <Field name="name" label="Name">
              <Input required autoFocus maxLength={60} />
            </Field>
          </Form>
        </Dialog>
      )}
    </div>
  )
}
