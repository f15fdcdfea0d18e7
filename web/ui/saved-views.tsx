import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { cx } from './cx.ts'
import { Dialog } from './dialog.tsx'
import { Field, Form, Input } from './field.tsx'

type View<F> = { name: string; filters: F }

const MAX_VIEWS = 20

type Filters = { [name: string]: string | undefined }

export type SavedViewsProps<F extends Filters> = {
  /** Names the list and the workspace: each has views of its own. */
  place: string
  filters: F
  /** Reads what was kept, which an earlier release may have written. */
  readFilters(kept: unknown): F
  /** Whether the filters are worth a name. */
  maySave: boolean
  onOpen(filters: F): void
}

/** Filters that this person has named; kept in this browser. */
function useViews<F extends Filters>({
  place,
  readFilters,
}: SavedViewsProps<F>): [View<F>[], (views: View<F>[]) => void] {
  const key = `heddle.views.${place}`
  const [views, setViews] = useState(() => read(key, readFilters))
  return [
    views,
    (next) => {
      localStorage.setItem(key, JSON.stringify(next))
      setViews(next)
    },
  ]
}

function read<F>(key: string, readFilters: (kept: unknown) => F): View<F>[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    if (!Array.isArray(kept)) return []
    return kept.flatMap((one: unknown) => {
      const { name, filters } = (one ?? {}) as { name?: unknown; filters?: unknown }
      return typeof name === 'string' ? [{ name, filters: readFilters(filters) }] : []
    })
  } catch {
    return []
  }
}

const isSame = (a: Filters, b: Filters): boolean =>
  [...Object.keys(a), ...Object.keys(b)].every((name) => (a[name] ?? '') === (b[name] ?? ''))

export function SavedViews<F extends Filters>(props: SavedViewsProps<F>) {
  const { filters, onOpen } = props
  const [views, setViews] = useViews(props)
  const [naming, setNaming] = useState(false)
  const isSaved = views.some((view) => isSame(view.filters, filters))
  const maySave = props.maySave && !isSaved && views.length < MAX_VIEWS
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
                isSame(view.filters, filters) ? 'border-accent' : 'border-line',
              )}
            >
              <button
                type="button"
                aria-pressed={isSame(view.filters, filters)}
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
