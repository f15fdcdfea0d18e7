import type { EventDestination } from '#sdk/types.generated'
import { Badge } from '#web/ui/badge.tsx'

export function DestinationState({ destination }: { destination: EventDestination }) {
  if (!destination.enabled) return <Badge tone="danger">Off</Badge>
  if (destination.failures > 0) return <Badge tone="waiting">Failing</Badge>
  return <Badge tone="success">On</Badge>
}
