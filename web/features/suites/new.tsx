import { useNavigate, useSearch } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import { useAll, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Field, Select } from '#web/ui/field.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty, Loaded, Loading } from '#web/ui/states.tsx'
import { mayRun } from '../workflows/role.ts'
import { SuiteForm } from './form.tsx'

export function NewSuitePage() {
  const navigate = useNavigate()
  const { userId } = useRole()
  const asked = (useSearch({ strict: false }) as { workflow_id?: string }).workflow_id
  const workflows = useAll('listWorkflows', { limit: 200 })
  const create = useChange('createSuite', {
    stale: ['searchSuites'],
    onDone: ({ suite_id }) => void navigate({ to: `/suites/${suite_id}` }),
  })
  return (
    <Page title="New suite" crumbs={[{ label: 'Suites', to: '/suites' }]}>
      <Loaded of={workflows} what="your workflows">
        {(rows) => {
          const own = rows.filter((one) => one.kind === 'user' && mayRun(one, userId))
          const known = own.find(({ workflow_id }) => workflow_id === asked)
          // The workflow may be on a page of the list that has not arrived yet.
          if (asked && !known && !workflows.complete) return <Loading />
          const workflowId = (known ?? own[0])?.workflow_id
          if (!workflowId) {
            return (
              <Empty icon={Lock} title="You need a workflow first">
                Owners and members of a workflow can create suites.
              </Empty>
            )
          }
          return (
            <>
              <div className="mb-4 max-w-2xl">
                <Field label="Workflow">
                  <Select
                    value={workflowId}
                    onChange={(event) =>
                      void navigate({ to: '/suites/new', search: { workflow_id: event.currentTarget.value } })
                    }
                    options={own.map(({ workflow_id, name }) => ({ value: workflow_id, label: name }))}
                  />
                </Field>
              </div>
              <SuiteForm
                key={workflowId}
                workflowId={workflowId}
                submit="Create suite"
                onSave={(body) => create.mutateAsync({ workflow_id: workflowId, ...body })}
              />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
