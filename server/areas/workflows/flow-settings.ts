import { checkExpression } from '#model/expressions'
import { invalid } from '#platform/errors'
import type { SettingsPatch } from './store.ts'

const ROOTS: ReadonlySet<string> = new Set(['input', 'execution'])
const WITH_KEY = ['concurrency', 'debounce', 'rate', 'dedupe'] as const

/** Checks the resulting settings. Refuses invalid keys, and two limits at once. */
export function checkFlow(settings: SettingsPatch): void {
  const errors = WITH_KEY.flatMap((rule) => {
    const key = settings[rule]?.key
    const wrong = key ? checkExpression(key.$cel, ROOTS) : null
    return wrong === null ? [] : [{ path: `/settings/${rule}/key/$cel`, message: wrong }]
  })
  if (settings.concurrency != null && settings.max_concurrency != null)
    errors.push({
      path: '/settings/concurrency',
      message: 'cannot be combined with max_concurrency; set one of them to null',
    })
  if (errors.length > 0) throw invalid(errors)
}
