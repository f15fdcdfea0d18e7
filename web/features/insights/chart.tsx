import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { t } from '#web/words/language.ts'
import type { Column } from './words.ts'

const text = { fill: 'var(--ink-2)', fontSize: 11 }
const box = {
  background: 'var(--raised)',
  border: '1px solid var(--line)',
  borderRadius: 6,
  color: 'var(--ink)',
  fontSize: 12,
}

/** Executions over time, by status. Screen readers get the figures as text. */
export function RunChart({ columns }: { columns: Column[] }) {
  const series = { stackId: 'runs', isAnimationActive: false } as const
  return (
    <figure className="m-0">
      <div aria-hidden className="h-48 w-full">
        <ResponsiveContainer width="100%" height="100%">
          <BarChart data={columns} margin={{ top: 4, right: 8, bottom: 0, left: 0 }} accessibilityLayer={false}>
            <XAxis
              dataKey="label"
              tick={text}
              tickLine={false}
              axisLine={{ stroke: 'var(--line)' }}
              interval="preserveStartEnd"
            />
            <YAxis tick={text} tickLine={false} axisLine={false} width={40} allowDecimals={false} />
            <Tooltip
              cursor={{ fill: 'var(--hover)' }}
              contentStyle={box}
              itemStyle={{ color: 'var(--ink)' }}
              isAnimationActive={false}
            />
            <Bar dataKey="succeeded" name={t('succeeded')} fill="var(--success)" {...series} />
            <Bar dataKey="failed" name={t('failed')} fill="var(--danger)" {...series} />
            <Bar dataKey="other" name={t('cancelled')} fill="var(--ink-3)" {...series} />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <figcaption className="sr-only">
        Runs over time:{' '}
        {columns
          .filter(({ succeeded, failed, other }) => succeeded + failed + other > 0)
          .map(({ label, succeeded, failed }) => `${label}: ${succeeded} succeeded, ${failed} failed`)
          .join('; ') || 'none'}
      </figcaption>
    </figure>
  )
}
