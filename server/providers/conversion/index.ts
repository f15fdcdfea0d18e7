// Conversion of files in a process of its own: what a tenant sends is parsed where a fault costs nobody else anything.

export const FORMATS = ['text', 'csv', 'xlsx', 'json', 'xml', 'html', 'pdf', 'zip'] as const
export type Format = (typeof FORMATS)[number]
export const TARGETS = ['rows', 'text', 'json', 'csv', 'xlsx', 'zip', 'files'] as const
export type Target = (typeof TARGETS)[number]

export type ConvertOptions = { delimiter?: string; header?: boolean; sheet?: string; encoding?: string }

/** One file that comes back, with all of its bytes. */
export type ConvertedFile = { name: string; media_type: string; bytes: Buffer }
export type Converted = { value?: unknown; files: ConvertedFile[] }

/** What comes in: the bytes of the files, one after the other, and a value where rows are written. */
export type ConvertTask = {
  workspaceId: string
  from: Format | 'value' | 'files'
  to: Target
  options: ConvertOptions
  /** For rows that become a file. */
  value?: unknown
  inputs: { name: string; media_type: string; chunks: () => AsyncIterable<Buffer> }[]
  signal: AbortSignal
}

export type ConversionCode = 'file_unreadable' | 'file_too_large' | 'archive_refused' | 'conversion_unsupported'

/** Nothing was changed; `message` is for the person who built the workflow. */
export class ConversionFailure extends Error {
  readonly code: ConversionCode
  constructor(code: ConversionCode, message: string) {
    super(message)
    this.code = code
  }
}

export const MAX_INPUT_BYTES = 64 * 1024 * 1024
/** All files that come of one conversion, together; and what an archive may unpack to. */
export const MAX_OUTPUT_BYTES = 128 * 1024 * 1024
export const MAX_VALUE_BYTES = 8 * 1024 * 1024

export type Conversion = { convert(task: ConvertTask): Promise<Converted>; close(): Promise<void> }
