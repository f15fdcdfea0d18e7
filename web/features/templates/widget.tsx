import { Lock } from 'lucide-react'
import { useRole } from '#web/session.tsx'
import { Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { Preview } from './preview.tsx'
import { TemplateShell } from './template-page.tsx'
import { Tokens } from './tokens.tsx'

export function WidgetPage() {
  const { canWrite } = useRole()
  return (
    <TemplateShell section="Widget">
      {(template, _mayChange, mayManage) =>
        canWrite ? (
          <div className="grid gap-8 lg:grid-cols-[minmax(0,1fr)_24rem]">
            <Tokens template={template} mayChange={mayManage} />
            <Section title="Preview" description="The real widget, as visitors see it.">
              {mayManage ? (
                <Preview key={template.updated_at} template={template} />
              ) : (
                <Empty title="The preview needs a token">
                  The template's creator or a workspace owner can create one.
                </Empty>
              )}
            </Section>
          </div>
        ) : (
          <Empty icon={Lock} title="Viewers cannot see tokens">
            Ask a member of the workspace.
          </Empty>
        )
      }
    </TemplateShell>
  )
}
