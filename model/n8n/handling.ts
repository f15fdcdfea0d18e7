import type { Node } from '../definition.ts'
import type { N8nNode } from './types.ts'

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/** Returns what n8n does if a node fails: it retries, continues, or leaves by the error port. */
export function handlingOf({ settings }: N8nNode, type: string): Partial<Node> {
  const tries = Number(settings.maxTries ?? 3)
  const pause = Number(settings.waitBetweenTries ?? 1_000)
  const onError = settings.continueOnFail === true || settings.onError === 'continueRegularOutput'
  return {
    ...(settings.retryOnFail === true && {
      retry: {
        max_attempts: clamp(Number.isFinite(tries) ? tries : 3, 1, 100),
        backoff_s: clamp(Number.isFinite(pause) ? pause / 1_000 : 1, 0, 3_600),
      },
    }),
    ...(onError && type !== 'fail' && { on_error: 'continue' as const }),
    ...(settings.onError === 'continueErrorOutput' && type !== 'fail' && { on_error: 'route' as const }),
  }
}

export const retryOnly = ({ retry }: Partial<Node>): Partial<Node> => (retry ? { retry } : {})
