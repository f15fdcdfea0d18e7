import type { EventDestination } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { showTestResult } from '#web/ui/test-result.ts'

export const useDestinationTest = () =>
  useChange('testDestination', {
    stale: ['getDestination', 'listDestinations', 'listDeliveries'],
    onDone: showTestResult,
    failed: 'Could not send a test event',
  })

/** The confirmation before a destination is deleted. */
export const deletionOf = ({ url }: EventDestination) => ({
  title: `Delete the destination ${new URL(url).host}?`,
  consequence: 'Nothing more is sent to it, and its deliveries are deleted. This cannot be undone.',
  action: 'Delete destination',
})
