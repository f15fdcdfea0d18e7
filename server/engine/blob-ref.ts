/** The location of a value that is too large for the journal. */
export type BlobRef = { key: string; sha256: string; bytes: number }
