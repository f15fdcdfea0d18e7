import { Download } from 'lucide-react'
import { useState } from 'react'
import { api } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { Button } from '#web/ui/button.tsx'
import { saveFile } from '#web/ui/download.ts'
import { Field, Input, Select, withPresent } from '#web/ui/field.tsx'
import { toast } from '#web/ui/toast.tsx'
import { actionWords } from './actions.ts'

/** The filter in the address of the page. Days are in the reader's time zone. */
export type AuditFilter = { action?: string; person?: string; from?: string; until?: string }

const dayStart = (day: string, after = 0): string => {
  const [year, month, date] = day.split('-').map(Number)
  return new Date(year!, month! - 1, date! + after).toISOString()
}
const isDay = (text: string | undefined): text is string => text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text)

/** Converts the filter to the query of the operations: `to` is the end of the last day. */
export const asQuery = ({ action, person, from, until }: AuditFilter) => ({
  ...(action && { action }),
  ...(person && { actor_id: person }),
  ...(isDay(from) && { from: dayStart(from) }),
  ...(isDay(until) && { to: dayStart(until, 1) }),
})

/** Returns the actions, sorted by their text. */
const actionOptions = (actions: string[]) =>
  actions.map((value) => ({ value, label: actionWords(value) })).sort((a, b) => a.label.localeCompare(b.label))

export function AuditFilters({
  filter,
  actions,
  onChange,
}: {
  filter: AuditFilter
  actions: string[]
  onChange(next: AuditFilter): void
}) {
  const { list, nameOf } = usePeople()
  const [exporting, setExporting] = useState(false)
  const set = (change: AuditFilter): void => {
    const next = Object.entries({ ...filter, ...change }).filter(([, value]) => value)
    onChange(Object.fromEntries(next))
  }
  const people = [
    { value: '', label: 'Everyone' },
    ...list.map(({ user_id, name }) => ({ value: user_id, label: name })),
  ]
  const exportLog = async (): Promise<void> => {
    setExporting(true)
    try {
      saveFile(await api.exportAuditLog(asQuery(filter)), 'audit-log.jsonl')
    } catch (error) {
      toast.failed('Could not export the audit log', error)
    } finally {
      setExporting(false)
    }
  }
  return (
    <div className="mb-4 flex flex-wrap items-end gap-3">
      <Field label="Person" className="w-52 max-sm:w-[calc(50%-0.375rem)]">
        <Select
          value={filter.person ?? ''}
          onChange={(event) => set({ person: event.currentTarget.value })}
          options={withPresent(people, filter.person, nameOf(filter.person ?? null))}
        />
      </Field>
      <Field label="Action" className="w-60 max-sm:w-[calc(50%-0.375rem)]">
        <Select
          value={filter.action ?? ''}
          onChange={(event) => set({ action: event.currentTarget.value })}
          options={[{ value: '', label: 'All actions' }, ...actionOptions(actions)]}
        />
      </Field>
      <Field label="From" className="w-40 max-sm:w-[calc(50%-0.375rem)]">
        <Input type="date" value={filter.from ?? ''} onChange={(event) => set({ from: event.currentTarget.value })} />
      </Field>
      <Field label="Until" className="w-40 max-sm:w-[calc(50%-0.375rem)]">
        <Input type="date" value={filter.until ?? ''} onChange={(event) => set({ until: event.currentTarget.value })} />
      </Field>
      <Button icon={Download} pending={exporting} onClick={() => void exportLog()}>
        Export JSON Lines
      </Button>
    </div>
  )
}
