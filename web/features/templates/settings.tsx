import { useNavigate } from '@tanstack/react-router'
import { Lock, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Template } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Facts, Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { PersonName } from '../people/names.tsx'
import { TemplateForm } from './form.tsx'
import { TemplateShell } from './template-page.tsx'

export const TemplatePage = () => (
  <TemplateShell section="Settings">
    {(template, mayChange) =>
      mayChange ? (
        <>
          <Change key={template.template_id} template={template} />
          <Delete template={template} />
        </>
      ) : (
        <>
          <Section title="About">
            <Facts
              facts={[
                ['Greeting', template.greeting ?? 'none'],
                ['Workflows', template.workflow_ids.length],
                ['Sites', template.allowed_origins.join(', ') || 'only this one'],
                ['Made by', <PersonName key="by" id={template.owner_id} />],
              ]}
            />
          </Section>
          <Empty icon={Lock} title="You may read this template, not change it">
            Its creator and the owners of the workspace can.
          </Empty>
        </>
      )
    }
  </TemplateShell>
)

function Change({ template }: { template: Template }) {
  const update = useChange('updateTemplate', {
    stale: ['getTemplate', 'listTemplates'],
    done: 'Saved; conversations under way go on with it',
  })
  return (
    <TemplateForm
      submit="Save"
      template={template}
      onSave={(body) => update.mutateAsync({ template_id: template.template_id, ...body })}
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
        title={`Delete ${template.name}?`}
        consequence="Widgets with its tokens stop answering at once, channels that use it are switched off, and threads go on without an assistant. It does not come back."
        action="Delete template"
        onConfirm={async () => {
          await remove.mutateAsync({ template_id: template.template_id })
          await navigate({ to: '/templates' })
        }}
      />
    </Section>
  )
}
