/** The worker was declared dead: nothing was written, nor will be. */
export class Fenced extends Error {}
/** The connection broke while the statement was under way: it may have been written or not. */
export class Unknown extends Error {}
/** There was no connection to send it on: nothing was written. What is under way is sent when there is one, a start is not begun. */
export class Unsent extends Error {}
/** The database refuses this one append, whatever else it is sent with. */
export class Refused extends Error {}
/** The database has no room left. Nothing was written; what is under way is sent again, a start is not begun. */
export class Full extends Error {}

/** Not this batch's fault and nothing was written: it is sent again as it is. */
export const isPassing = (error: unknown): boolean =>
  /^(40|53|55P03|57014|58)/.test((error as { code?: string }).code ?? '')

export const isFull = (error: unknown): boolean => (error as { code?: string }).code === '53100'
