import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { toast } from '#web/ui/toast.tsx'
import { type Filters, type ListName, useViews } from './use-views.ts'

const MAX_VIEWS = 20

type SavedViewsProps<F extends Filters> = {
  list: ListName
  filters: F
  /** Reads stored filters, which an earlier release may have written. */
  readFilters(kept: unknown): F
  /** Whether there are filters to save. */
  maySave: boolean
  onOpen(filters: F): void
}

const isSame = (a: Filters, b: Filters): boolean =>
  [...Object.keys(a), ...Object.keys(b)].every((name) => (a[name] ?? '') === (b[name] ?? ''))

export function SavedViews<F extends Filters>(props: SavedViewsProps<F>) {
  const { list, filters, readFilters, onOpen } = props
  const { views, isRead, save, remove } = useViews(list, readFilters)
  const [naming, setNaming] = useState(false)
  const isSaved = views.some((view) => isSame(view.filters, filters))
  const maySave = props.maySave && isRead && !isSaved && views.length < MAX_VIEWS
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
                onClick={() =>
                  void remove(view.name).catch((error) => toast.failed('Could not remove the view', error))
                }
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
          description="Keeps these filters under a name, for you in this workspace."
        >
          <Form<{ name: string }>
            submit="Save view"
            onCancel={() => setNaming(false)}
            onSubmit={async ({ name }) => {
              await save(name.trim(), filters)
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
