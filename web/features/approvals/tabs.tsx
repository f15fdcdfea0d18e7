import { useLocation } from '@tanstack/react-router'
import { TabLinks } from '#web/ui/tabs.tsx'

/** A decided request is opened beside the waiting requests, under the first tab. */
export function ApprovalTabs() {
  const { pathname } = useLocation()
  const isDecided = pathname === '/approvals/decided' || pathname === '/approvals/answers'
  return (
    <TabLinks
      label="Kinds of approvals"
      tabs={[
        { to: '/approvals', label: 'Waiting for you', exact: isDecided },
        { to: '/approvals/decided', label: 'Your decisions' },
        { to: '/approvals/answers', label: 'Saved answers' },
      ]}
    />
  )
}
