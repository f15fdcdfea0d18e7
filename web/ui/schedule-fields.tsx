import { useMemo, useState } from 'react'
import { cronInWords } from './cron.ts'
import { Field, Input, Select } from './field.tsx'

export type ScheduleValue = { cron: string; timezone: string }

type Every = 'hour' | 'day' | 'weekdays' | 'week' | 'month' | 'custom'

const every: { value: Every; label: string }[] = [
  { value: 'hour', label: 'Every hour' },
  { value: 'day', label: 'Every day' },
  { value: 'weekdays', label: 'On weekdays' },
  { value: 'week', label: 'Every Monday' },
  { value: 'month', label: 'On the 1st of the month' },
  { value: 'custom', label: 'Custom (cron)' },
]

const shapes: Record<Exclude<Every, 'custom' | 'hour'>, string> = {
  day: '* * *',
  weekdays: '* * 1-5',
  week: '* * 1',
  month: '1 * *',
}

function readCron(cron: string): { kind: Every; time: string } {
  if (cron === '0 * * * *') return { kind: 'hour', time: '09:00' }
  const [, minute, hour, rest] = /^(\d{1,2}) (\d{1,2}) (.*)$/.exec(cron) ?? []
  const found = Object.entries(shapes).find(([, shape]) => shape === rest)?.[0] as Every | undefined
  if (found === undefined) return { kind: 'custom', time: '09:00' }
  return { kind: found, time: `${hour!.padStart(2, '0')}:${minute!.padStart(2, '0')}` }
}

/** A schedule chosen from words, or as a cron line. */
export function ScheduleFields({ value, onChange }: { value: ScheduleValue; onChange(value: ScheduleValue): void }) {
  const [{ kind, time }, setParts] = useState(() => readCron(value.cron))
  const zones = useMemo(() => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')], [])
  const choose = (next: { kind: Every; time: string }): void => {
    setParts(next)
    if (next.kind === 'custom') return
    const [hour, minute] = next.time.split(':').map(Number)
    const cron = next.kind === 'hour' ? '0 * * * *' : `${minute ?? 0} ${hour ?? 0} ${shapes[next.kind]}`
    onChange({ ...value, cron })
  }
  return (
    <div className="grid grid-cols-2 gap-3">
      <Field label="When">
        <Select
          options={every}
          value={kind}
          onChange={(event) => choose({ kind: event.target.value as Every, time })}
        />
      </Field>
      {kind === 'custom' ? (
        <Field label="Cron" hint={cronInWords(value.cron)}>
          <Input
            value={value.cron}
            onChange={(event) => onChange({ ...value, cron: event.target.value })}
            className="font-mono"
          />
        </Field>
      ) : (
        kind !== 'hour' && (
          <Field label="At">
            <Input type="time" value={time} onChange={(event) => choose({ kind, time: event.target.value })} />
          </Field>
        )
      )}
      <Field label="Time zone" className="col-span-2">
        <Select
          options={zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }))}
          value={value.timezone}
          onChange={(event) => onChange({ ...value, timezone: event.target.value })}
        />
      </Field>
    </div>
  )
}

export const ownTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
