// The limits of a dataset. docs/datasets.md documents the same numbers.

export const MAX_RECORDS = 1_000_000
/** The maximum number of top-level keys of a record. The size of the record limits nested keys. */
export const MAX_KEYS = 1_000
export const MAX_KEY_LENGTH = 256
/** The maximum nesting. The record itself is level 1. */
export const MAX_DEPTH = 64
/**
 * The maximum size of a record. An endless line or an unclosed quote is refused after this size: with csv-parse after
 * about 0.3 s.
 */
export const MAX_RECORD_BYTES = 4 << 20
/** The maximum number of columns in the profile. Further columns are stored but not profiled. */
export const MAX_COLUMNS = 1_000
/** The size of the canonical JSON in one stored chunk, before compression. */
export const CHUNK_BYTES = 1 << 20
