import { useNavigate } from '@tanstack/react-router'
import { Lock, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Dataset } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Field, Form, Input, Textarea } from '#web/ui/field.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { Card, Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { DatasetShell } from './dataset-page.tsx'
import { deletionOf } from './deletion.ts'
import { readRecords } from './read-records.ts'

export const DatasetSettingsPage = () => (
  <DatasetShell section="Settings">{(dataset) => <Settings key={dataset.dataset_id} dataset={dataset} />}</DatasetShell>
)

const stale = ['listDatasets', 'listRecords', 'getUsage'] as const

function Settings({ dataset }: { dataset: Dataset }) {
  const { canWrite } = useRole()
  const { dataset_id } = dataset
  return (
    <>
      {canWrite ? (
        <Describe dataset={dataset} />
      ) : (
        <Empty icon={Lock} title="Viewers cannot change datasets" className="mb-8">
          Workspace members can.
        </Empty>
      )}
      <Section title="API details">
        <div className="flex max-w-2xl flex-col gap-3">
          <CopyField label="Id" text={dataset_id} />
          <CopyField label="Fingerprint (SHA-256 of the canonical JSON)" text={dataset.sha256} />
        </div>
      </Section>
      {canWrite && (
        <>
          <Replace dataset={dataset} />
          <Delete dataset={dataset} />
        </>
      )}
    </>
  )
}

function Describe({ dataset }: { dataset: Dataset }) {
  const update = useChange('updateDataset', { stale: [...stale], done: 'Saved' })
  return (
    <Section title="Name and description">
      <Card className="max-w-2xl">
        <Form<{ name: string; description: string }>
          submit="Save"
          onSubmit={({ name, description }) =>
            update.mutateAsync({ dataset_id: dataset.dataset_id, name, description: description || null })
          }
        >
          <Field name="name" label="Name">
            <Input required maxLength={200} defaultValue={dataset.name} />
          </Field>
          <Field name="description" label="Description">
            <Textarea rows={3} maxLength={5000} defaultValue={dataset.description ?? ''} />
          </Field>
        </Form>
      </Card>
    </Section>
  )
}

function Replace({ dataset }: { dataset: Dataset }) {
  const [records, setRecords] = useState<Record<string, unknown>[] | null>(null)
  const [round, setRound] = useState(0)
  const replace = useChange('updateDataset', {
    stale: [...stale],
    done: ({ record_count }) => `Replaced. The dataset now has ${formatNumber(record_count)} records`,
    onDone: () => setRound(round + 1),
  })
  return (
    <Section
      title="Replace all records"
      description="Upload a JSON array of up to 64 MiB. The dataset gets a new fingerprint."
    >
      <Card className="max-w-2xl">
        <Form<{ records: string }>
          key={round}
          submit="Replace…"
          look="secondary"
          onSubmit={async (values) => setRecords(readRecords(values.records))}
        >
          <Field name="records" label="New records">
            <Textarea
              rows={6}
              required
              spellCheck={false}
              className="font-mono text-xs"
              placeholder='[{ "email": "ada@example.com" }]'
            />
          </Field>
        </Form>
      </Card>
      <ConfirmDialog
        open={records !== null}
        onClose={() => setRecords(null)}
        title={`Replace ${formatNumber(dataset.record_count)} records with ${formatNumber(records?.length ?? 0)}?`}
        consequence="The old records are deleted. Runs and jobs that started with the old fingerprint fail at their next check, so no decision uses changed data."
        action="Replace records"
        onConfirm={() => replace.mutateAsync({ dataset_id: dataset.dataset_id, records: records! })}
      />
    </Section>
  )
}

function Delete({ dataset }: { dataset: Dataset }) {
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const remove = useChange('deleteDataset', { done: `${dataset.name} was deleted` })
  return (
    <Section
      title="Delete this dataset"
      description="Jobs and suites that use it are kept. They cannot run until you choose another dataset."
    >
      <Button look="danger" icon={Trash2} onClick={() => setAsking(true)}>
        Delete dataset…
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        {...deletionOf(dataset)}
        onConfirm={async () => {
          await remove.mutateAsync({ dataset_id: dataset.dataset_id })
          await navigate({ to: '/datasets' })
        }}
      />
    </Section>
  )
}
