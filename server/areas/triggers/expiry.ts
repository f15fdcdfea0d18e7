import { Cron } from 'croner'
import type { Json, JsonObject } from '#model/definition'
import type { ServiceHook } from '#providers/services/manifest'
import { valueAt } from '#providers/services/paths'
import type { PieceTrigger } from '#providers/services/pieces/index'

// Registrations that expire at the vendor: the requested duration, the time of expiry, and the time of renewal.

/** In seconds from now. `endsInS` is null if only the time of renewal is known. */
export type Expiry = { endsInS: number | null; renewInS: number }

const MIN_S = 60
const MAX_S = 400 * 24 * 3600
/**
 * Renews after two thirds of the time, so that there are many retries before expiry if a vendor is unavailable for
 * hours.
 */
const RENEWED_AFTER = 2 / 3
const MIN_CRON_S = 600

/** Returns the requested expiry of a registration that expires. */
export function requestedExpiry({ lasts_s }: ServiceHook, now = Date.now()): JsonObject {
  if (lasts_s === undefined) return {}
  const until = now + lasts_s * 1_000
  return { hook_until: new Date(until).toISOString(), hook_until_ms: String(until) }
}

const timeOf = (told: Json | undefined): number => {
  if (typeof told === 'number') return told
  if (typeof told !== 'string') return Number.NaN
  return /^\d+$/.test(told) ? Number(told) : Date.parse(told)
}

/** Prefers the vendor's expiry to the requested one. */
export function expiryOf({ lasts_s, expires }: ServiceHook, output: Json, now = Date.now()): Expiry | null {
  const told = expires === undefined ? Number.NaN : timeOf(valueAt(output, expires))
  const seconds = Number.isFinite(told) ? (told - now) / 1_000 : lasts_s
  if (seconds === undefined) return null
  const endsInS = Math.min(MAX_S, Math.max(MIN_S, seconds))
  return { endsInS, renewInS: endsInS * RENEWED_AFTER }
}

/** Uses the times at which a piece wants to renew. */
export function expiryOfPiece({ renew }: PieceTrigger, now = new Date()): Expiry | null {
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
