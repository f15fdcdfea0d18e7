import type { ReactNode } from 'react'

export type SchemaFormProps = {
  /** JSON Schema written by a tenant; it is interpreted, never compiled. */
  schema: unknown
  value?: unknown
  onSubmit(value: unknown): Promise<unknown>
  /** For forms that are saved while the user types. */
  onChange?: (value: unknown) => void
  submit?: ReactNode
  /** Buttons beside the submit button. */
  actions?: ReactNode
  disabled?: boolean
  /** Whether the whole value can also be typed or pasted as JSON. */
  json?: boolean
}
