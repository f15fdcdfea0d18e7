import type { WorkflowSchedule } from '#sdk/types.generated'
import { Field, Input, Select } from '#web/ui/field.tsx'
import { ScheduleFields } from '#web/ui/schedule-fields.tsx'

export type Times = Pick<WorkflowSchedule, 'cron' | 'every_s' | 'at' | 'timezone'>

type Kind = 'cron' | 'every' | 'once'

const kinds: { value: Kind; label: string }[] = [
  { value: 'cron', label: 'At certain times' },
  { value: 'every', label: 'At an interval' },
  { value: 'once', label: 'Once' },
]

const begin: Record<Kind, () => Omit<Times, 'timezone'>> = {
  cron: () => ({ cron: '0 9 * * 1-5', every_s: null, at: null }),
  every: () => ({ cron: null, every_s: 900, at: null }),
  once: () => ({ cron: null, every_s: null, at: new Date(Date.now() + 3_600_000).toISOString() }),
}

/** Returns the value for the browser's date field: the local time, without a zone. */
const asLocal = (at: string): string => {
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A cron schedule in words, an interval, or a single time. */
export function Moments({ value, onChange }: { value: Times; onChange(value: Times): void }) {
  const kind: Kind = value.cron !== null ? 'cron' : value.every_s !== null ? 'every' : 'once'
  return (
    <>
      <Field label="Runs">
        <Select
          options={kinds}
          value={kind}
          onChange={(event) => onChange({ ...value, ...begin[event.target.value as Kind]() })}
        />
      </Field>
      {value.cron !== null && (
        <ScheduleFields
          value={{ cron: value.cron, timezone: value.timezone }}
          onChange={(next) => onChange({ ...value, ...next })}
        />
      )}
      {value.every_s !== null && (
        <Field label="Minutes between starts" hint="Counted from when the schedule is saved.">
          <Input
            type="number"
            min={1}
            max={527_040}
            required
            value={value.every_s / 60}
            onChange={(event) => onChange({ ...value, every_s: Number(event.target.value) * 60 })}
          />
        </Field>
      )}
      {value.at !== null && (
        <Field label="Time" hint="In your own time zone.">
          <Input
            type="datetime-local"
            required
            value={asLocal(value.at)}
            onChange={(event) =>
              event.target.value !== '' && onChange({ ...value, at: new Date(event.target.value).toISOString() })
            }
          />
        </Field>
      )}
    </>
  )
}
