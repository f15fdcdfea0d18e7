import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import type { Bar as Counted } from './figures.ts'

const text = { fill: 'var(--ink-2)', fontSize: 11 }
const box = {
  background: 'var(--raised)',
  border: '1px solid var(--line)',
  borderRadius: 6,
  color: 'var(--ink)',
  fontSize: 12,
}

/**
 * Vertical bars for ordered numbers, horizontal bars for words that must be readable. Screen readers get the figures as
 * a table.
 */
export function Bars({ bars, label, upright }: { bars: Counted[]; label: string; upright: boolean }) {
  const height = upright ? 160 : Math.max(60, bars.length * 26)
  return (
    <figure className="m-0">
      <div aria-hidden className="w-full" style={{ height }}>
        <ResponsiveContainer width="100%" height="100%">
          <BarChart
            data={bars}
            layout={upright ? 'horizontal' : 'vertical'}
            margin={{ top: 4, right: 8, bottom: 0, left: 0 }}
            accessibilityLayer={false}
          >
            {upright ? (
              <>
                <XAxis
                  dataKey="label"
                  tick={text}
                  tickLine={false}
                  axisLine={{ stroke: 'var(--line)' }}
                  interval="preserveStartEnd"
                />
                <YAxis tick={text} tickLine={false} axisLine={false} width={36} allowDecimals={false} />
              </>
            ) : (
              <>
                <XAxis type="number" hide allowDecimals={false} />
                <YAxis
                  type="category"
                  dataKey="label"
                  tick={text}
                  tickLine={false}
                  axisLine={false}
                  width={130}
                  interval={0}
                />
              </>
            )}
            <Tooltip
              cursor={{ fill: 'var(--hover)' }}
              contentStyle={box}
              itemStyle={{ color: 'var(--ink)' }}
              isAnimationActive={false}
            />
            <Bar dataKey="count" name="records" fill="var(--accent)" radius={2} isAnimationActive={false} />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <figcaption className="sr-only">
        {label}: {bars.map((bar) => `${bar.label}: ${bar.count}`).join('; ')}
      </figcaption>
    </figure>
  )
}
