import { isObject } from '#model/json'
import { JsonView } from '#web/ui/json-view.tsx'
import { Card } from '#web/ui/page.tsx'

const isPlain = (value: unknown): boolean => value === null || ['string', 'number', 'boolean'].includes(typeof value)

/** The stored record: small flat ones as a list to read, anything else as JSON. */
export function Payload({ value }: { value: unknown }) {
  if (typeof value === 'string') return <Card className="break-words whitespace-pre-wrap">{value}</Card>
  const entries = isObject(value) ? Object.entries(value) : []
  if (entries.length === 0 || entries.length > 24 || !entries.every(([, one]) => isPlain(one))) {
    return <JsonView value={value} label="What is voted on" />
  }
  return (
    <Card>
      <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-6 gap-y-1.5">
        {entries.map(([key, one]) => (
          <div key={key} className="col-span-2 grid grid-cols-subgrid">
            <dt className="text-ink-2">{key}</dt>
            <dd className="min-w-0 break-words whitespace-pre-wrap">{one === null ? '–' : String(one)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
