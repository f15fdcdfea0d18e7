import { cx } from './cx.ts'

/** One column of a chart: parts stacked from the bottom, in the order of `tones`. */
export type BarColumn = { label: string; parts: number[] }

const tones = ['bg-success', 'bg-danger', 'bg-ink-3']

/** Executions over time as plain boxes: small enough for the first page, which cannot afford a chart library. */
export function Bars({
  columns,
  names,
  label,
  className,
}: {
  columns: BarColumn[]
  /** The name of each part of a column. */
  names: string[]
  label: string
  className?: string
}) {
  const most = Math.max(1, ...columns.map(({ parts }) => sum(parts)))
  const filled = columns.filter(({ parts }) => sum(parts) > 0)
  return (
    <figure className="m-0">
      <div aria-hidden className={cx('flex items-end gap-px sm:gap-0.5', className ?? 'h-28')}>
        {columns.map(({ label: at, parts }) => (
          <div
            key={at}
            title={`${at}: ${names.map((name, index) => `${parts[index] ?? 0} ${name}`).join(', ')}`}
            className="flex h-full min-w-0 flex-1 flex-col-reverse justify-start rounded-sm bg-sunken hover:bg-hover"
          >
            {parts.map(
              (part, index) =>
                part > 0 && (
                  <div
                    key={names[index]}
                    className={cx('w-full first:rounded-b-sm last:rounded-t-sm', tones[index])}
                    style={{ height: `${Math.max(3, (part / most) * 100)}%` }}
                  />
                ),
            )}
          </div>
        ))}
      </div>
      <div aria-hidden className="mt-1 flex flex-wrap justify-between gap-x-4 text-xs text-ink-2">
        <span>{columns[0]?.label}</span>
        <span className="flex flex-wrap gap-x-4">
          {names.map((name, index) => (
            <span key={name} className="flex items-center gap-1.5">
              <span className={cx('size-2 rounded-sm', tones[index])} />
              {name}
            </span>
          ))}
        </span>
        <span>{columns.at(-1)?.label}</span>
      </div>
      <figcaption className="sr-only">
        {label}:{' '}
        {filled
          .map(
            ({ label: at, parts }) => `${at}: ${names.map((name, index) => `${parts[index] ?? 0} ${name}`).join(', ')}`,
          )
          .join('; ') || 'none'}
      </figcaption>
    </figure>
  )
}

const sum = (parts: number[]): number => parts.reduce((total, part) => total + part, 0)
