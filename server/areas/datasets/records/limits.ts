// What a dataset may hold. docs/datasets.md tells people the same numbers.

export const MAX_RECORDS = 1_000_000
/** Keys of one record; keys deeper inside are bounded by the size of the record. */
export const MAX_KEYS = 1_000
export const MAX_KEY_LENGTH = 256
/** The record itself is level 1. */
export const MAX_DEPTH = 64
/** An endless line or an unclosed quote is given up after this much: with csv-parse about 0.3 s. */
export const MAX_RECORD_BYTES = 4 << 20
/** Names kept in the profile; the rest of a dataset with more is stored but not profiled. */
export const MAX_COLUMNS = 1_000
/** Canonical JSON in one stored chunk, before compression. */
export const CHUNK_BYTES = 1 << 20
