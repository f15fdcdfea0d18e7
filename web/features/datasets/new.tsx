import { useNavigate } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Field, Form, Input, Textarea } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { readRecords } from './read-records.ts'

const example = '[\n  { "email": "ada@example.com", "score": 7 },\n  { "email": "bob@example.com", "score": 3 }\n]'

export function NewDatasetPage() {
  const navigate = useNavigate()
  const { canWrite } = useRole()
  const create = useChange('createDataset', {
    stale: ['listDatasets', 'getUsage'],
    done: ({ record_count }) => `Created with ${record_count} records`,
    onDone: ({ dataset_id }) => void navigate({ to: `/datasets/${dataset_id}` }),
  })
  return (
    <Page
      title="Enter records"
      crumbs={[{ label: 'Datasets', to: '/datasets' }]}
      description="For a few records. Import larger datasets from a file."
    >
      {canWrite ? (
        <div className="max-w-2xl">
          <Form<{ name: string; description: string; records: string }>
            submit="Create dataset"
            onSubmit={({ name, description, records }) =>
              create.mutateAsync({ name, ...(description && { description }), records: readRecords(records) })
            }
          >
            <Field name="name" label="Name">
              <Input required autoFocus maxLength={200} />
            </Field>
            <Field name="description" label="Description">
              <Textarea rows={2} maxLength={5000} />
            </Field>
            <Field name="records" label="Records" hint="A JSON array of objects.">
              <Textarea rows={14} required spellCheck={false} className="font-mono text-xs" defaultValue={example} />
            </Field>
          </Form>
        </div>
      ) : (
        <Empty icon={Lock} title="Viewers cannot create datasets">
          Ask a member of the workspace.
        </Empty>
      )}
    </Page>
  )
}
