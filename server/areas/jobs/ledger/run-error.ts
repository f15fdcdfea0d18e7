import type { Json } from '#model/definition'

/** Why a run ended before all of its records were processed. */
export type RunError = { code: string; message: string; details?: Json }
