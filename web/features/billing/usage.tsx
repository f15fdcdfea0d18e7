import { useApi } from '#web/api.ts'
import { Meter } from '#web/ui/meter.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { meansLabels, quotaLabels, quotaValue } from './words.ts'

export function UsageBars() {
  const usage = useApi('getUsage')
  return (
    <Section
      title="Usage"
      description={usage.data?.plan ? `Compared with the quotas of ${usage.data.plan}.` : undefined}
    >
      <Loaded of={usage} what="the usage">
        {({ quotas, means }) => (
          <Card className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
            {quotas.map((one) => (
              <Bar key={one.quota} label={quotaLabels[one.quota]} {...one} />
            ))}
            {means.map((one) => (
              <Bar key={one.quota} label={meansLabels[one.quota]} {...one} />
            ))}
          </Card>
        )}
      </Loaded>
    </Section>
  )
}

function Bar({ label, quota, used, limit }: { label: string; quota: string; used: number; limit: number | null }) {
  const isOver = limit !== null && used >= limit
  const isNear = limit !== null && used >= limit * 0.8
  return (
    <Meter
      label={label}
      value={used}
      max={limit}
      tone={isOver ? 'danger' : isNear ? 'waiting' : 'accent'}
      detail={
        limit === null
          ? `${quotaValue(quota, used)}, unlimited`
          : `${quotaValue(quota, used)} of ${quotaValue(quota, limit)}`
      }
    />
  )
}
