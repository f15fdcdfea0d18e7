/**
 * Why input was not taken. It crosses threads as plain data, so it is a kind and a text, never a class of ours.
 * `syntax`: not JSON or CSV at all. `record`: one record breaks a rule. `deep`, `large`: over a limit. `type`: a kind of
 * file that is not read here.
 */
export type Refusal = {
  kind: 'syntax' | 'record' | 'deep' | 'large' | 'type'
  message: string
  /** Position of the record, from 0. */
  record?: number
  /** Line of the file, from 1. */
  line?: number
}

export class RecordsRefused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

export const refuse = (
  kind: Refusal['kind'],
  message: string,
  at: { record?: number; line?: number } = {},
): RecordsRefused => new RecordsRefused({ kind, message, ...at })

/** Adds where it happened to a refusal that does not know. */
export function located<T>(at: { record?: number; line?: number }, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RecordsRefused && error.refusal.record === undefined)
      throw new RecordsRefused({ ...at, ...error.refusal } as Refusal)
    throw error
  }
}
