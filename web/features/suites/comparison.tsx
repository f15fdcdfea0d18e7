import { Link } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import type { SuiteReport } from '#sdk/types.generated'
import { Section } from '#web/ui/page.tsx'
import { Table } from '#web/ui/table.tsx'
import { t } from '#web/words/language.ts'
import { effectWords, milliseconds, OutcomeBadge, percent, usageInWords } from './pass-rate.tsx'

type Compared = NonNullable<SuiteReport['comparison']>

/** The improvements and regressions since the other run. */
export function Comparison({ comparison, report }: { comparison: Compared; report: SuiteReport }) {
  const { improved, regressed, same_dataset, changes } = comparison
  const passRate = report.pass_rate
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
      <Table
        label="Both runs side by side"
        rows={figures(comparison, report)}
        rowKey={(row) => row.what}
        columns={[
          { header: 'Figure', cell: (row) => row.what, width: '12rem' },
          { header: 'The other run', cell: (row) => row.before },
          { header: 'This run', cell: (row) => row.after },
        ]}
      />
      {changes.length > 0 && (
        <Table
          label="Records whose outcome changed"
          rows={changes}
          rowKey={(row) => String(row.position)}
          columns={[
            {
              header: 'Record',
              width: '8rem',
              cell: (row) => (
                <Link
                  to={caseOf(row.case_url).to}
                  search={caseOf(row.case_url).search}
                  className="text-accent hover:underline"
                >
                  Record {row.position + 1}
                </Link>
              ),
            },
            {
              header: 'Difference',
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

/** Returns the page of a case, without the host. */
function caseOf(address: string): { to: string; search: { compare?: string } } {
  const { pathname, searchParams } = new URL(address)
  const compare = searchParams.get('compare')
  return { to: pathname, search: compare === null ? {} : { compare } }
}

function figures(before: Compared, after: SuiteReport): { what: string; before: string; after: string }[] {
  const rate = (value: number | null): string => (value === null ? '–' : percent(value))
  const row = (what: string, of: (run: Compared | SuiteReport) => string) => ({
    what,
    before: of(before),
    after: of(after),
  })
  return [
    row(t('Effects'), ({ effects }) => effectWords[effects]),
    row(t('Passed'), ({ pass_rate }) => rate(pass_rate)),
    row(t('Score'), ({ score }) => rate(score)),
    row('Models, this run', ({ usage }) => usageInWords(usage)),
    row('Models, recorded', ({ recorded_usage }) => usageInWords(recorded_usage)),
    row('Duration p50', ({ duration_ms }) => milliseconds(duration_ms.p50)),
    row('Duration p95', ({ duration_ms }) => milliseconds(duration_ms.p95)),
  ]
}
