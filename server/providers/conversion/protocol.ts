import type { ConversionCode, ConvertOptions, Format, Target } from './index.ts'

export type ToChild =
  | { do: 'task'; from: Format | 'value' | 'files'; to: Target; options: ConvertOptions; value?: unknown }
  /** Starts one input; its bytes follow in order as chunks. */
  | { do: 'input'; name: string; media_type: string }
  | { do: 'chunk' }
  | { do: 'go' }

export type FromChild =
  | { did: 'file'; name: string; media_type: string }
  | { did: 'value'; value: unknown }
  | { did: 'failed'; code: ConversionCode; message: string }
  | { did: 'done' }
