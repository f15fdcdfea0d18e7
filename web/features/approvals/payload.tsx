import { useState } from 'react'
import { Button } from '#web/ui/button.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { Card } from '#web/ui/page.tsx'
import { type Shape, shapeOf } from './payload-shape.ts'

/** The stored record: as fields and rows if it is small enough, otherwise or on request as JSON. */
export function Payload({ value }: { value: unknown }) {
  const [raw, setRaw] = useState(false)
  if (typeof value === 'string') return <Card className="break-words whitespace-pre-wrap">{value}</Card>
  const shape = shapeOf(value)
  if (shape === null) return <JsonView value={value} label="Content under review" />
  return (
    <>
      {raw ? <JsonView value={value} label="Content under review" /> : <Card>{<Fields shape={shape} />}</Card>}
      <Button size="small" look="quiet" className="mt-1" onClick={() => setRaw(!raw)}>
        {raw ? 'As fields' : 'As JSON'}
      </Button>
    </>
  )
}

const Fields = ({ shape }: { shape: Shape }) => (
  <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-6 gap-y-1.5">
    {shape.map((field) =>
      field.rows ? (
        <div key={field.name} className="col-span-2 mt-1 min-w-0">
          <dt className="text-ink-2">{field.name}</dt>
          <dd className="mt-1 overflow-x-auto">
            <Rows name={field.name} rows={field.rows} />
          </dd>
        </div>
      ) : (
        <div key={field.name} className="col-span-2 grid grid-cols-subgrid">
          <dt className="text-ink-2">{field.name}</dt>
          <dd className="min-w-0 break-words whitespace-pre-wrap">{field.text}</dd>
        </div>
      ),
    )}
  </dl>
)

function Rows({ name, rows }: { name: string; rows: Record<string, string>[] }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return (
    <table aria-label={name} className="w-full text-left">
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col" className="border-b border-line py-1 pr-4 text-xs font-medium text-ink-2">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a stored record does not change
          <tr key={index} className="border-b border-line last:border-b-0">
            {columns.map((column) => (
              <td key={column} className="py-1 pr-4 align-top break-words">
                {row[column] ?? '–'}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
