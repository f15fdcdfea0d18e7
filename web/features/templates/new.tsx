import { useNavigate } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Page } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { TemplateForm } from './form.tsx'

export function NewTemplatePage() {
  const navigate = useNavigate()
  const { canWrite } = useRole()
  const create = useChange('createTemplate', {
    stale: ['listTemplates'],
    onDone: ({ template_id }) => void navigate({ to: `/templates/${template_id}/widget` }),
  })
  return (
    <Page title="New template" crumbs={[{ label: 'Templates', to: '/templates' }]}>
      {canWrite ? (
        <TemplateForm submit="Create template" onSave={(body) => create.mutateAsync(body)} />
      ) : (
        <Empty icon={Lock} title="Viewers cannot create templates">
          Ask a member of the workspace.
        </Empty>
      )}
    </Page>
  )
}
