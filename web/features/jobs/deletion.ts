import type { EnrichmentJob } from '#sdk/types.generated'

/** The confirmation before a job is deleted. */
export const deletionOf = ({ name }: EnrichmentJob) => ({
  title: `Delete ${name}?`,
  consequence:
    'The job and its ledger are deleted permanently, and its current run is cancelled. Datasets it wrote are kept.',
  action: 'Delete job',
})
