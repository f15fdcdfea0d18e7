import type { Json } from '#model/definition'

/** Why a run ended before its records did. */
export type RunError = { code: string; message: string; details?: Json }
