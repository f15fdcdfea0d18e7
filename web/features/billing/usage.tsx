import { useApi } from '#web/api.ts'
import { Meter } from '#web/ui/meter.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { quotaLabels, quotaValue } from './words.ts'

export function UsageBars() {
  const usage = useApi('getUsage')
  return (
    <Section title="Usage" description={usage.data?.plan ? `Against the quotas of ${usage.data.plan}.` : undefined}>
      <Loaded of={usage} what="the usage">
        {({ quotas }) => (
          <Card className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
            {quotas.map(({ quota, used, limit }) => (
              <Meter
                key={quota}
                label={quotaLabels[quota]}
                value={used}
                max={limit}
                tone={
                  limit !== null && used >= limit
                    ? 'danger'
                    : limit !== null && used >= limit * 0.8
                      ? 'waiting'
                      : 'accent'
                }
                detail={
                  limit === null
                    ? `${quotaValue(quota, used)}, unlimited`
                    : `${quotaValue(quota, used)} of ${quotaValue(quota, limit)}`
                }
              />
            ))}
          </Card>
        )}
      </Loaded>
    </Section>
  )
}
