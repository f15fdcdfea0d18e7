import { Cron } from 'croner'
import type { Json, JsonObject } from '#model/definition'
import type { ServiceHook } from '#providers/services/manifest'
import { valueAt } from '#providers/services/paths'
import type { PieceTrigger } from '#providers/services/pieces/index'

// Registrations that end at the vendor by themselves: how long they are asked for, when they end, and when they are renewed.

/** In seconds from now. `endsInS` is null where only the time to renew is known. */
export type Lasts = { endsInS: number | null; renewInS: number }

const MIN_S = 60
const MAX_S = 400 * 24 * 3600
/** After two thirds of the time: a vendor that is away for hours is asked again often before it ends. */
const RENEWED_AFTER = 2 / 3
const MIN_CRON_S = 600

/** What is asked for where a registration ends by itself. */
export function askedUntil({ lasts_s }: ServiceHook, now = Date.now()): JsonObject {
  if (lasts_s === undefined) return {}
  const until = now + lasts_s * 1_000
  return { hook_until: new Date(until).toISOString(), hook_until_ms: String(until) }
}

const timeOf = (told: Json | undefined): number => {
  if (typeof told === 'number') return told
  if (typeof told !== 'string') return Number.NaN
  return /^\d+$/.test(told) ? Number(told) : Date.parse(told)
}

/** What the vendor says counts more than what was asked for. */
export function lastsOf({ lasts_s, expires }: ServiceHook, output: Json, now = Date.now()): Lasts | null {
  const told = expires === undefined ? Number.NaN : timeOf(valueAt(output, expires))
  const seconds = Number.isFinite(told) ? (told - now) / 1_000 : lasts_s
  if (seconds === undefined) return null
  const endsInS = Math.min(MAX_S, Math.max(MIN_S, seconds))
  return { endsInS, renewInS: endsInS * RENEWED_AFTER }
}

/** Pieces name the times at which they want to renew. */
export function lastsOfPiece({ renew }: PieceTrigger, now = new Date()): Lasts | null {
  if (typeof renew !== 'string') return null
  const next = nextOf(renew, now)
  return next === null
    ? null
    : { endsInS: null, renewInS: Math.max(MIN_CRON_S, (next.getTime() - now.getTime()) / 1_000) }
}

function nextOf(expression: string, now: Date): Date | null {
  try {
    return new Cron(expression, { timezone: 'UTC' }).nextRun(now)
  } catch {
    return null
  }
}
