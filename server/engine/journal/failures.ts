/**
 * The worker was declared dead, or its journal was closed while nothing could be written. Nothing was written, and
 * nothing will be.
 */
export class Fenced extends Error {}
/** The connection broke during the statement. It is unknown whether the statement was written. */
export class Unknown extends Error {}
/**
 * There was no connection, so nothing was written. Appends of running executions are sent later; a start is refused.
 */
export class Unsent extends Error {}
/** The database refuses this append, independent of the other appends of the batch. */
export class Refused extends Error {}
/**
 * The database has no disk space, so nothing was written. Appends of running executions are sent again; a start is
 * refused.
 */
export class Full extends Error {}

/** Checks whether a row belongs to a week that is sealed. */
export const isWeekSealed = (error: unknown): boolean => {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === '23514' && constraint === 'all_ended'
}

/**
 * Checks whether the error is temporary: the batch did not cause it, nothing was written, and the same batch is sent
 * again. A week that was sealed while an execution of it was being started is being opened.
 */
export const isPassing = (error: unknown): boolean =>
  /^(40|53|55P03|57014|58)/.test((error as { code?: string }).code ?? '') || isWeekSealed(error)

export const isFull = (error: unknown): boolean => (error as { code?: string }).code === '53100'
