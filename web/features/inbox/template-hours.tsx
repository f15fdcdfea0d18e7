import { useApi, useChange } from '#web/api.ts'
import { Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { HoursForm } from './hours-form.tsx'

/** The hours of one template; without its own hours it uses those of the workspace. */
export function TemplateHours({ templateId }: { templateId: string }) {
  const hours = useApi('getTemplateHours', { template_id: templateId })
  const save = useChange('putTemplateHours', { stale: ['getTemplateHours'], done: 'Saved' })
  return (
    <Section title="Opening hours" className="mt-10">
      <Loaded of={hours} what="the opening hours">
        {({ hours: given, updated_at }) => (
          <HoursForm
            key={updated_at}
            hours={given}
            mayChange
            without="The hours of the workspace apply."
            onSave={(next) => save.mutateAsync({ template_id: templateId, hours: next })}
          />
        )}
      </Loaded>
    </Section>
  )
}
