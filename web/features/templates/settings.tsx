import { useNavigate } from '@tanstack/react-router'
import { Lock, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Template } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Facts, Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { TemplateHours } from '../inbox/template-hours.tsx'
import { PersonName } from '../people/names.tsx'
import { TeamShares } from '../teams/team-shares.tsx'
import { deletionOf } from './deletion.ts'
import { TemplateForm } from './form.tsx'
import { TemplateShell } from './template-page.tsx'

export const TemplatePage = () => (
  <TemplateShell section="Settings">
    {(template, mayChange, mayManage) =>
      mayChange ? (
        <>
          <Change key={template.template_id} template={template} />
          <Teams template={template} mayManage={mayManage} />
          <TemplateHours templateId={template.template_id} />
          {mayManage && <Delete template={template} />}
        </>
      ) : (
        <>
          <Section title="About">
            <Facts
              facts={[
                ['Greeting', template.greeting ?? 'none'],
                ['Workflows', template.workflow_ids.length],
                ['Sites', template.allowed_origins.join(', ') || 'only this one'],
                ['Created by', <PersonName key="by" id={template.owner_id} />],
              ]}
            />
          </Section>
          <Empty icon={Lock} title="You can view this template but not edit it">
            Its creator, its teams and workspace owners can edit it.
          </Empty>
        </>
      )
    }
  </TemplateShell>
)

function Change({ template }: { template: Template }) {
  const update = useChange('updateTemplate', {
    stale: ['getTemplate', 'listTemplates'],
    done: 'Saved. Open conversations use the new settings',
  })
  return (
    <TemplateForm
      submit="Save"
      template={template}
      onSave={(body) => update.mutateAsync({ template_id: template.template_id, ...body })}
    />
  )
}

function Teams({ template, mayManage }: { template: Template; mayManage: boolean }) {
  const share = useChange('updateTemplate', {
    stale: ['getTemplate', 'listTemplates'],
    failed: 'Could not share the template',
  })
  return (
    <TeamShares
      shares={template.teams}
      roles={[{ value: 'editor', label: 'Editor' }]}
      mayManage={mayManage}
      pending={share.isPending}
      onChange={(teams) => share.mutateAsync({ template_id: template.template_id, teams: teams as never })}
    />
  )
}

function Delete({ template }: { template: Template }) {
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const remove = useChange('deleteTemplate', {
    stale: ['listTemplates', 'listChannelConfigs'],
    done: `${template.name} was deleted`,
  })
  return (
    <Section title="Delete this template" className="mt-10">
      <Button look="danger" icon={Trash2} onClick={() => setAsking(true)}>
        Delete template…
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        {...deletionOf(template)}
        onConfirm={async () => {
          await remove.mutateAsync({ template_id: template.template_id })
          await navigate({ to: '/templates' })
        }}
      />
    </Section>
  )
}
