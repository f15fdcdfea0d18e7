import { TabLinks } from '#web/ui/tabs.tsx'

export const InboxSections = () => (
  <TabLinks
    label="Sections of the inbox"
    tabs={[
      { to: '/conversations', label: 'Inbox', exact: true },
      { to: '/conversations/answers', label: 'Canned answers' },
      { to: '/conversations/hours', label: 'Opening hours' },
    ]}
  />
)
