import { Check } from 'lucide-react'
import type { Plan } from '#sdk/types.generated'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { featureLine, priceOf, quotaLines, usageLines } from './words.ts'

export function PlanCard({
  plan,
  current,
  action,
  onChoose,
}: {
  plan: Plan
  current: boolean
  action: string | null
  onChoose(): void
}) {
  return (
    <li className={cx('flex flex-col rounded-lg border bg-surface p-4', current ? 'border-accent' : 'border-line')}>
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-semibold">{plan.name}</h3>
        {current && <Badge tone="accent">Current plan</Badge>}
      </div>
      <p className="mt-1 text-lg font-semibold">{priceOf(plan)}</p>
      {plan.trial_days > 0 && <p className="text-ink-2">{plan.trial_days}-day trial</p>}
      <ul className="my-3 flex flex-1 flex-col gap-1 text-ink-2">
        {[...usageLines(plan), ...quotaLines(plan.quotas), ...plan.features.map(featureLine)].map((line) => (
          <li key={line} className="flex gap-2">
            <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
            <span className="min-w-0 break-words">{line}</span>
          </li>
        ))}
      </ul>
      {action && (
        <Button onClick={onChoose} aria-label={`${action}: ${plan.name}`}>
          {action}
        </Button>
      )}
    </li>
  )
}
