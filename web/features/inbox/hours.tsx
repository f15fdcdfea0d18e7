import { useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { HoursForm } from './hours-form.tsx'
import { InboxSections } from './sections.tsx'

export function OpeningHoursPage() {
  const { isOwner } = useRole()
  const hours = useApi('getOpeningHours')
  const save = useChange('putOpeningHours', { stale: ['getOpeningHours'], done: 'Saved' })
  return (
    <Page
      title="Opening hours"
      heading="Conversations"
      description="Outside these hours, visitors who ask for a person are told when somebody answers."
    >
      <InboxSections />
      <Loaded of={hours} what="the opening hours">
        {({ hours: given, updated_at }) => (
          <HoursForm
            key={updated_at}
            hours={given}
            mayChange={isOwner}
            without="No opening hours: visitors are told that someone will answer."
            onSave={(next) => save.mutateAsync({ hours: next })}
          />
        )}
      </Loaded>
    </Page>
  )
}
