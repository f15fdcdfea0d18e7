// Converts files in a separate process, so that a fault while parsing a tenant's file affects no other tenant.

export const FORMATS = ['text', 'csv', 'xlsx', 'json', 'xml', 'html', 'pdf', 'zip'] as const
export type Format = (typeof FORMATS)[number]
export const TARGETS = ['rows', 'text', 'json', 'csv', 'xlsx', 'zip', 'files'] as const
export type Target = (typeof TARGETS)[number]

export type ConvertOptions = { delimiter?: string; header?: boolean; sheet?: string; encoding?: string }

/** One resulting file, with all of its bytes. */
export type ConvertedFile = { name: string; media_type: string; bytes: Buffer }
export type Converted = { value?: unknown; files: ConvertedFile[] }

/** The input: the bytes of the files, one file after the other, and a value if rows are written to a file. */
export type ConvertTask = {
  workspaceId: string
  from: Format | 'value' | 'files'
  to: Target
  options: ConvertOptions
  /** The rows to write to a file. */
  value?: unknown
  inputs: { name: string; media_type: string; chunks: () => AsyncIterable<Buffer> }[]
  signal: AbortSignal
}

export type ConversionCode = 'file_unreadable' | 'file_too_large' | 'archive_refused' | 'conversion_unsupported'

/** The conversion failed without side effects. `message` is for the person who built the workflow. */
export class ConversionFailure extends Error {
  readonly code: ConversionCode
  constructor(code: ConversionCode, message: string) {
    super(message)
    this.code = code
  }
}

export const MAX_INPUT_BYTES = 64 * 1024 * 1024
/** The limit for all files of one conversion together, and for the unpacked size of an archive. */
export const MAX_OUTPUT_BYTES = 128 * 1024 * 1024
export const MAX_VALUE_BYTES = 8 * 1024 * 1024

export type Conversion = { convert(task: ConvertTask): Promise<Converted>; close(): Promise<void> }
