import type { Service, ServiceAction } from '#providers/services/manifest'

// Searches services and actions by words: every word must occur in the service or in the action.

export const shownActions = ({ actions }: Service): ServiceAction[] =>
  [...actions.values()].filter(({ hidden }) => !hidden)

const has = (text: string, word: string): boolean => text.toLowerCase().includes(word)

const ofName = ({ service, title }: Service, word: string): boolean => has(service, word) || has(title, word)
const ofKeywords = ({ keywords = [] }: Service, word: string): boolean => keywords.some((keyword) => has(keyword, word))
const ofAction = ({ name, title }: ServiceAction, word: string): boolean => has(name, word) || has(title, word)

/** Keywords of a service are used only if the names of the service and its actions do not contain all words. */
function matching(service: Service, words: readonly string[]): ServiceAction[] {
  const actions = shownActions(service)
  const rest = words.filter((word) => !ofName(service, word))
  const found = actions.filter((action) => rest.every((word) => ofAction(action, word)))
  if (found.length > 0) return found
  const left = rest.filter((word) => !ofKeywords(service, word))
  return actions.filter((action) => left.every((word) => ofAction(action, word)))
}

export function searchServices(
  services: Iterable<Service>,
  q: string,
): { service: Service; actions: ServiceAction[] }[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return [...services].flatMap((service) => {
    const actions = matching(service, words)
    return actions.length > 0 ? [{ service, actions }] : []
  })
}
