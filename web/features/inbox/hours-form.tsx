import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import type { OpeningHours } from '#sdk/types.generated'
import { Button, IconButton } from '#web/ui/button.tsx'
import { Field, Input, Textarea } from '#web/ui/field.tsx'
import { messageOf } from '#web/ui/messages.ts'
import { t } from '#web/words/language.ts'

type Hours = NonNullable<OpeningHours['hours']>
type Day = keyof Hours['days']
type Span = { from: string; to: string }

const days: [Day, string][] = [
  ['mon', t('Monday')],
  ['tue', t('Tuesday')],
  ['wed', t('Wednesday')],
  ['thu', t('Thursday')],
  ['fri', t('Friday')],
  ['sat', t('Saturday')],
  ['sun', t('Sunday')],
]
const WORKDAY: Span = { from: '09:00', to: '17:00' }
const MAX_SPANS = 4

const usual = (): Hours => ({
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
  days: { mon: [WORKDAY], tue: [WORKDAY], wed: [WORKDAY], thu: [WORKDAY], fri: [WORKDAY] },
})

/** The browser's time field shows midnight at the end of a day as 00:00. */
const ended = (to: string): string => (to === '00:00' ? '24:00' : to)
const shownEnd = (to: string): string => (to === '24:00' ? '00:00' : to)

export function HoursForm({
  hours: given,
  mayChange,
  without,
  onSave,
}: {
  hours: Hours | null
  mayChange: boolean
  /** The text that explains what applies without hours. */
  without: string
  onSave(hours: Hours | null): Promise<unknown>
}) {
  const [hours, setHours] = useState(given)
  const [pending, setPending] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const save = async (next: Hours | null): Promise<void> => {
    setPending(true)
    setRefused(null)
    try {
      await onSave(next)
    } catch (error) {
      setRefused(messageOf(error))
    } finally {
      setPending(false)
    }
  }
  if (hours === null)
    return (
      <div className="flex flex-wrap items-center gap-3">
        <p className="text-ink-2">{without}</p>
        {mayChange && <Button onClick={() => setHours(usual())}>Set opening hours</Button>}
      </div>
    )
  const setDay = (day: Day, spans: Span[]): void => setHours({ ...hours, days: { ...hours.days, [day]: spans } })
  return (
    <form
      className="flex max-w-2xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void save(hours)
      }}
    >
      <Field label="Time zone" className="max-w-xs">
        <Input
          required
          value={hours.time_zone}
          disabled={!mayChange}
          onChange={(event) => setHours({ ...hours, time_zone: event.target.value })}
        />
      </Field>
      <fieldset disabled={!mayChange} className="flex flex-col gap-2">
        <legend className="mb-2 text-sm font-medium">Days</legend>
        {days.map(([day, label]) => (
          <DayRow key={day} label={label} spans={hours.days[day] ?? []} onChange={(spans) => setDay(day, spans)} />
        ))}
      </fieldset>
      <Field label="Closed on" hint="Days on which nobody answers, such as 2026-12-25, one on each line.">
        <Textarea
          rows={3}
          disabled={!mayChange}
          defaultValue={(hours.closed_on ?? []).join('\n')}
          onChange={(event) => setHours({ ...hours, closed_on: event.target.value.split(/[\s,]+/).filter(Boolean) })}
        />
      </Field>
      {refused && (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
          {refused}
        </p>
      )}
      {mayChange && (
        <div className="flex gap-2">
          <Button type="submit" look="primary" pending={pending}>
            Save
          </Button>
          <Button look="quiet" onClick={() => (given === null ? setHours(null) : void save(null))}>
            Remove opening hours
          </Button>
        </div>
      )}
    </form>
  )
}

function DayRow({ label, spans, onChange }: { label: string; spans: Span[]; onChange(spans: Span[]): void }) {
  const put = (at: number, change: Partial<Span>): void =>
    onChange(spans.map((span, index) => (index === at ? { ...span, ...change } : span)))
  return (
    <div className="grid items-start gap-x-4 gap-y-1 sm:grid-cols-[8rem_1fr]">
      <span className="pt-2">{label}</span>
      <div className="flex flex-wrap items-center gap-2">
        {spans.length === 0 && <span className="text-ink-3">Closed</span>}
        {spans.map((span, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a time has no other name than its place
          <span key={at} className="flex items-center gap-1">
            <Field label={`${label}, from`} hideLabel>
              <Input
                type="time"
                required
                className="w-28"
                value={span.from}
                onChange={(event) => put(at, { from: event.target.value })}
              />
            </Field>
            –
            <Field label={`${label}, to`} hideLabel>
              <Input
                type="time"
                required
                className="w-28"
                value={shownEnd(span.to)}
                onChange={(event) => put(at, { to: ended(event.target.value) })}
              />
            </Field>
            <IconButton
              size="small"
              icon={X}
              label="Remove this time"
              onClick={() => onChange(spans.filter((_, index) => index !== at))}
            />
          </span>
        ))}
        {spans.length < MAX_SPANS && (
          <IconButton
            size="small"
            icon={Plus}
            label={`Add a time on ${label}`}
            onClick={() => onChange([...spans, WORKDAY])}
          />
        )}
      </div>
    </div>
  )
}
