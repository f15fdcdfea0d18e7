import { Workflow } from 'lucide-react'
import { useState } from 'react'
import type { ExecutionNodeDetail } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { StatusBadge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { toast } from '#web/ui/toast.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { ExecutionData } from './execution-data.tsx'

type Item = ExecutionNodeDetail['items'][number]
type More = { items: Item[]; cursor: string | null }

/** The items of a map or the iterations of a loop, page by page. */
export function StepItems({
  execution_id,
  detail,
  path,
  onOpen,
}: {
  execution_id: string
  detail: ExecutionNodeDetail
  path: string
  /** Shows the steps of one item or iteration. */
  onOpen?: (index: number) => void
}) {
  const [more, setMore] = useState<More | null>(null)
  const [open, setOpen] = useState<number | null>(null)
  const items = [...detail.items, ...(more?.items ?? [])]
  const cursor = more ? more.cursor : detail.next_cursor
  if (items.length === 0) return null
  const load = async (): Promise<void> => {
    try {
      const page = await api.getExecutionNode({ execution_id, path, cursor: cursor! })
      setMore({ items: [...(more?.items ?? []), ...page.items], cursor: page.next_cursor })
    } catch (error) {
      toast.failed('Could not load more', error)
    }
  }
  return (
    <section aria-label={detail.type === 'loop' ? 'Turns' : 'Items'}>
      <h3 className="mb-1 font-medium">{detail.type === 'loop' ? 'Turns' : 'Items'}</h3>
      <ol className="flex max-h-96 flex-col gap-1 overflow-y-auto">
        {items.map((item) => (
          <li key={item.index} className="rounded-md border border-line px-2.5 py-1.5">
            <button
              type="button"
              aria-expanded={open === item.index}
              onClick={() => setOpen(open === item.index ? null : item.index)}
              className="flex w-full items-center gap-2 text-left"
            >
              <span className="w-10 text-ink-2 tabular-nums">{item.index + 1}.</span>
              <StatusBadge status={item.status} />
              <span className="min-w-0 flex-1 truncate font-mono text-xs text-ink-2">
                {item.error?.message ?? JSON.stringify(item.output)?.slice(0, 80)}
              </span>
            </button>
            {open === item.index && (
              <div className="mt-2">
                {item.error && (
                  <p className="mb-2 break-words text-danger">
                    <code className="font-mono text-xs">{item.error.code}</code> {translateMessage(item.error.message)}
                  </p>
                )}
                <ExecutionData
                  value={item.output}
                  label={`Output of item ${item.index + 1}`}
                  execution_id={execution_id}
                />
                {onOpen && (
                  <Button size="small" icon={Workflow} className="mt-2" onClick={() => onOpen(item.index)}>
                    Show its steps
                  </Button>
                )}
              </div>
            )}
          </li>
        ))}
      </ol>
      {cursor !== null && (
        <Button size="small" className="mt-2" onClick={() => void load()}>
          Show more
        </Button>
      )}
    </section>
  )
}
