import type { CompletionSource } from '@codemirror/autocomplete'
import type { HoverTooltipSource } from '@codemirror/view'
import type { SignatureSource } from './signature.ts'

export type Language = 'cel' | 'json' | 'typescript' | 'jsonata' | 'plain'

/** A problem in the text, between two positions. */
export type Fault = { from: number; to: number; message: string; level: 'error' | 'warning' }

export type CodeFieldProps = {
  label: string
  language: Language
  value: string
  onChange(value: string): void
  onBlur?: () => void
  disabled?: boolean
  invalid?: boolean
  /** The minimum number of lines shown. */
  rows?: number
  complete?: CompletionSource
  hover?: HoverTooltipSource
  /** Returns the signature of the function whose arguments are being typed. */
  signature?: SignatureSource
  /** Returns the problems in the text; called again shortly after typing. */
  faults?: (text: string) => Fault[]
}

export type CodeHandle = {
  /** Inserts text at the cursor and moves the cursor after it. */
  insert(text: string): void
}
