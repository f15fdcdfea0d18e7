import { useState } from 'react'
import type { Frame } from '#sdk/sockets'
import { useList } from '#web/api.ts'
import { JsonView } from '#web/ui/json-view.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { exactTime, formatDuration } from '#web/ui/time-words.ts'

type Event = Pick<Frame, 'seq' | 'type' | 'at'> & { data: unknown }

/** All recorded events, in order: the fetched events, and those that arrived since. */
export function Journal({
  execution_id,
  frames,
  nameOf,
}: {
  execution_id: string
  frames: Frame[]
  nameOf(nodeId: string): string
}) {
  const events = useList('listExecutionEvents', { execution_id, limit: 200 })
  const [open, setOpen] = useState<number | null>(null)
  return (
    <Loaded of={events} what="the journal">
      {(fetched) => {
        const last = fetched.at(-1)?.seq ?? 0
        const all: Event[] = [...fetched, ...(events.more.hasMore ? [] : frames.filter(({ seq }) => seq > last))]
        const begin = all[0] ? Date.parse(all[0].at) : 0
        return (
          <ol className="flex flex-col text-xs">
            {all.map((event) => (
              <li key={event.seq} className="border-b border-line last:border-none">
                <button
                  type="button"
                  aria-expanded={open === event.seq}
                  onClick={() => setOpen(open === event.seq ? null : event.seq)}
                  className="grid w-full grid-cols-[3rem_5rem_12rem_1fr] gap-3 rounded px-2 py-1.5 text-left hover:bg-hover"
                >
                  <span className="text-ink-3 tabular-nums">{event.seq}</span>
                  <span className="text-ink-2 tabular-nums" title={exactTime(event.at)}>
                    +{formatDuration(Date.parse(event.at) - begin)}
                  </span>
                  <span className="font-mono">{event.type}</span>
                  <span className="truncate text-ink-2">{nodeOf(event, nameOf)}</span>
                </button>
                {open === event.seq && (
                  <JsonView value={event.data} label={`Data of event ${event.seq}`} className="mb-2" />
                )}
              </li>
            ))}
            {events.more.hasMore && (
              <li className="py-2 text-center">
                <button type="button" className="text-accent underline" onClick={events.more.load}>
                  Show more
                </button>
              </li>
            )}
          </ol>
        )
      }}
    </Loaded>
  )
}

const nodeOf = ({ data }: Event, nameOf: (nodeId: string) => string): string => {
  const id = (data as { node_id?: unknown } | null)?.node_id
  return typeof id === 'string' ? nameOf(id) : ''
}
