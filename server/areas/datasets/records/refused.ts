/**
 * Why input was refused. It crosses threads as plain data, so it has a kind and a text instead of a class. `syntax`:
 * not valid JSON or CSV. `record`: a record breaks a rule. `deep`, `large`: over a limit. `type`: an unsupported kind
 * of file.
 */
export type Refusal = {
  kind: 'syntax' | 'record' | 'deep' | 'large' | 'type'
  message: string
  /** The position of the record, from 0. */
  record?: number
  /** The line of the file, from 1. */
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

/** Adds the position to a refusal that has none. */
export function located<T>(at: { record?: number; line?: number }, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RecordsRefused && error.refusal.record === undefined)
      throw new RecordsRefused({ ...at, ...error.refusal } as Refusal)
    throw error
  }
}
