import { useAll } from '#web/api.ts'
import { wordsOf } from './words.ts'

type Named = { service: string; trigger: string }

/**
 * Returns a function that gives the titles of a service and of its trigger in the language of the page; their names
 * until the services are loaded.
 */
export function useTriggerNames(): (of: Named) => Named {
  const { data } = useAll('listServices', { limit: 200 })
  return ({ service, trigger }) => {
    const known = data?.find((one) => one.service === service)
    const found = known?.triggers.find(({ name }) => name === trigger)
    return { service: known?.title ?? service, trigger: known && found ? wordsOf(known, found.title) : trigger }
  }
}
