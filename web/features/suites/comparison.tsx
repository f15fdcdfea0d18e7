import { ArrowRight } from 'lucide-react'
import type { SuiteReport } from '#sdk/types.generated'
import { Section } from '#web/ui/page.tsx'
import { Table } from '#web/ui/table.tsx'
import { OutcomeBadge, percent } from './pass-rate.tsx'

type Compared = NonNullable<SuiteReport['comparison']>

/** What got better and what got worse since the other run. */
export function Comparison({ comparison, passRate }: { comparison: Compared; passRate: number | null }) {
  const { improved, regressed, same_dataset, changes } = comparison
  return (
    <Section title="Compared with the other run">
      {!same_dataset && (
        <p className="mb-3 rounded-lg bg-waiting-soft px-4 py-3 text-waiting">
          The dataset has changed since. Records with the same number may differ.
        </p>
      )}
      <p className="mb-3">
        {comparison.pass_rate !== null &&
          passRate !== null &&
          `From ${percent(comparison.pass_rate)} to ${percent(passRate)}. `}
        <span className="font-medium text-success">{improved} better</span>,{' '}
        <span className="font-medium text-danger">{regressed} worse</span>.
      </p>
      {changes.length > 0 && (
        <Table
          label="Records whose outcome changed"
          rows={changes}
          rowKey={(row) => String(row.position)}
          columns={[
            { header: 'Record', cell: (row) => row.position + 1, align: 'right', width: '5rem' },
            {
              header: 'Change',
              cell: (row) => (
                <span className="flex items-center gap-2">
                  <OutcomeBadge outcome={row.before} />
                  <ArrowRight role="img" aria-label="became" className="size-4 text-ink-3" />
                  <OutcomeBadge outcome={row.after} />
                </span>
              ),
            },
          ]}
        />
      )}
    </Section>
  )
}
