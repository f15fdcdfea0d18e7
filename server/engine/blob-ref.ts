/** Where a value too large for a journal is kept. */
export type BlobRef = { key: string; sha256: string; bytes: number }
