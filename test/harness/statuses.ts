import { taggedRoutes } from '#platform/http/openapi/document'
import { statusesOf } from '#platform/http/openapi/statuses'
import type { AnyRoute } from '#platform/http/route'

/**
 * Checks that every status that a service returned in a test is described for its operation in the OpenAPI document.
 */
export function checkStatuses(routes: () => AnyRoute[]) {
  const seen = new Map<AnyRoute, Set<number>>()
  return {
    note(route: AnyRoute, status: number): void {
      const statuses = seen.get(route) ?? new Set()
      statuses.add(status)
      seen.set(route, statuses)
    },
    check(): void {
      const isTagged = taggedRoutes(routes())
      const undescribed = [...seen].flatMap(([route, statuses]) => {
        // The workflow may choose any status for an inbound address.
        if (route.access.word === 'token' && route.access.scope === 'inbound') return []
        const described = statusesOf(route, isTagged(route))
        return [...statuses].filter((status) => !described.has(status)).map((status) => `${route.operation} ${status}`)
      })
      if (undescribed.length > 0)
        throw new Error(
          `answered, but not described in the OpenAPI document (alsoRefuses, alsoStatus): ${undescribed.join(', ')}`,
        )
    },
  }
}
