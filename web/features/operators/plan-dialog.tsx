import type { Plan } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input, Select, Textarea } from '#web/ui/field.tsx'
import { t } from '#web/words/language.ts'
import { UsagePriceFields } from './usage-price-fields.tsx'
import { readUsagePrices, type UsageValues } from './usage-prices.ts'

const GIB = 1024 ** 3

type Values = UsageValues & {
  name: string
  amount: string
  currency: string
  interval: 'month' | 'year'
  trial_days: string
  runs_per_month: string
  members: string
  storage_gib: string
  records: string
  cpu_s_per_minute: string
  features: string
  tax_name: string
  tax_percent: string
  coupons: string
}

const limit = (text: string, unit = 1): number | null => (text.trim() === '' ? null : Math.round(Number(text) * unit))

/** Returns the CPU quota. An empty field keeps an unlimited quota; otherwise the operator's setting applies. */
const cpuOf = ({ cpu_s_per_minute: text }: Values, old: Plan | null): Plan['quotas'] =>
  text.trim() !== ''
    ? { cpu_s_per_minute: Number(text) }
    : old?.quotas.cpu_s_per_minute === null
      ? { cpu_s_per_minute: null }
      : {}

type Coupon = NonNullable<Plan['coupons']>[number]

/** Parses one coupon per line: `CODE 20% once 2027-01-31`; the day is optional. */
function readCoupons(text: string): Coupon[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [code = '', percent = '', duration = 'once', day] = line.trim().split(/\s+/)
    if (!/^\d{1,3}%?$/.test(percent) || (duration !== 'once' && duration !== 'forever'))
      throw new Error(`Cannot read the coupon "${line.trim()}". Write it like: SPRING 20% once 2027-01-31`)
    const expires = day === undefined ? null : new Date(`${day}T23:59:59Z`)
    if (expires && Number.isNaN(expires.getTime())) throw new Error(t('"{0}" is not a day like 2027-01-31', [day]))
    return { code, percent_off: Number.parseInt(percent, 10), duration, expires_at: expires?.toISOString() ?? null }
  })
}

const couponLine = ({ code, percent_off, duration, expires_at }: Coupon): string =>
  [code, `${percent_off}%`, duration, ...(expires_at ? [expires_at.slice(0, 10)] : [])].join(' ')

const bodyOf = (values: Values, old: Plan | null) => ({
  name: values.name,
  amount: Number(values.amount),
  currency: values.currency.toLowerCase(),
  interval: values.interval,
  trial_days: Number(values.trial_days || 0),
  // Limits that this form does not show stay unchanged.
  quotas: {
    ...old?.quotas,
    runs_per_month: limit(values.runs_per_month),
    members: limit(values.members),
    storage_bytes: limit(values.storage_gib, GIB),
    records: limit(values.records),
    ...cpuOf(values, old),
  },
  features: values.features
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== ''),
  tax:
    values.tax_percent.trim() === '' ? null : { name: values.tax_name || 'VAT', percent: Number(values.tax_percent) },
  usage_prices: readUsagePrices(values, old?.usage_prices),
  coupons: readCoupons(values.coupons),
})

export function PlanDialog({ plan, onClose }: { plan: Plan | 'new' | null; onClose(): void }) {
  const stale = ['listPlans', 'getUsage'] as const
  const create = useChange('createPlan', { stale: [...stale], done: 'Plan created', onDone: onClose })
  const update = useChange('updatePlan', { stale: [...stale], done: 'Saved', onDone: onClose })
  const old = plan === 'new' ? null : plan
  const storage = old?.quotas.storage_bytes
  return (
    <Dialog open={plan !== null} onClose={onClose} size="medium" title={old ? `Change ${old.name}` : 'New plan'}>
      <Form<Values>
        submit={old ? 'Save' : 'Create plan'}
        onCancel={onClose}
        onSubmit={(values) =>
          old
            ? update.mutateAsync({ plan_id: old.plan_id, ...bodyOf(values, old) })
            : create.mutateAsync(bodyOf(values, old))
        }
      >
        <Field name="name" label="Name">
          <Input required autoFocus maxLength={200} defaultValue={old?.name ?? ''} />
        </Field>
        <div className="grid gap-4 sm:grid-cols-3">
          <Field name="amount" label="Price" hint="In minor units: 4900 is 49.00.">
            <Input type="number" required min={0} step={1} defaultValue={old?.amount ?? 0} />
          </Field>
          <Field name="currency" label="Currency">
            <Input required minLength={3} maxLength={3} defaultValue={old?.currency ?? 'eur'} />
          </Field>
          <Field name="interval" label="Interval">
            <Select
              defaultValue={old?.interval ?? 'month'}
              options={[
                { value: 'month', label: 'Month' },
                { value: 'year', label: 'Year' },
              ]}
            />
          </Field>
        </div>
        <Field name="trial_days" label="Trial days">
          <Input type="number" min={0} defaultValue={old?.trial_days ?? 0} />
        </Field>
        <fieldset className="grid gap-4 sm:grid-cols-2">
          <legend className="mb-2 font-medium">Quotas (empty: unlimited)</legend>
          <Field name="runs_per_month" label="Runs a month">
            <Input type="number" min={0} defaultValue={old?.quotas.runs_per_month ?? ''} />
          </Field>
          <Field name="members" label="Members">
            <Input type="number" min={0} defaultValue={old?.quotas.members ?? ''} />
          </Field>
          <Field name="storage_gib" label="Storage, GiB">
            <Input type="number" min={0} step="any" defaultValue={storage == null ? '' : storage / GIB} />
          </Field>
          <Field name="records" label="Records in datasets">
            <Input type="number" min={0} defaultValue={old?.quotas.records ?? ''} />
          </Field>
          <Field name="cpu_s_per_minute" label="CPU seconds per minute for code" hint="Empty: as the operator set it.">
            <Input type="number" min={0} step="any" defaultValue={old?.quotas.cpu_s_per_minute ?? ''} />
          </Field>
        </fieldset>
        <UsagePriceFields plan={old} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field name="tax_name" label="Tax" hint="As it appears on invoices.">
            <Input maxLength={200} placeholder="VAT" defaultValue={old?.tax?.name ?? ''} />
          </Field>
          <Field name="tax_percent" label="Tax in percent" hint="Added to the price. Empty: none.">
            <Input type="number" min={0} max={100} step="any" defaultValue={old?.tax?.percent ?? ''} />
          </Field>
        </div>
        <Field
          name="coupons"
          label="Coupons"
          hint="One per line: code, percent off, once or forever, and the last day if it has one."
        >
          <Textarea
            rows={3}
            spellCheck={false}
            placeholder="SPRING 20% once 2027-01-31"
            className="font-mono text-xs"
            defaultValue={old?.coupons?.map(couponLine).join('\n') ?? ''}
          />
        </Field>
        <Field name="features" label="Features" hint="One per line.">
          <Textarea rows={3} defaultValue={old?.features.join('\n') ?? ''} />
        </Field>
      </Form>
    </Dialog>
  )
}
