import type { CompletionSource } from '@codemirror/autocomplete'
import type { HoverTooltipSource } from '@codemirror/view'
import type { SignatureSource } from './signature.ts'

export type Language = 'cel' | 'json' | 'typescript' | 'jsonata' | 'plain'

/** Something wrong in the text, between two positions. */
export type Fault = { from: number; to: number; message: string; level: 'error' | 'warning' }

export type CodeFieldProps = {
  label: string
  language: Language
  value: string
  onChange(value: string): void
  onBlur?: () => void
  disabled?: boolean
  invalid?: boolean
  /** Lines that are shown even when the text has fewer. */
  rows?: number
  complete?: CompletionSource
  hover?: HoverTooltipSource
  /** How the function is called whose arguments are being typed. */
  signature?: SignatureSource
  /** Where in the text is what wrong; asked again a moment after typing. */
  faults?: (text: string) => Fault[]
}

export type CodeHandle = {
  /** Puts text where the cursor is, and the cursor behind it. */
  insert(text: string): void
}
