import { lazy, type ReactNode, Suspense } from 'react'
import { Loading } from './states.tsx'

const Inside = lazy(() =>
  import('./schema-form-inside.tsx').then(({ SchemaFormInside }) => ({ default: SchemaFormInside })),
)

export type SchemaFormProps = {
  /** JSON Schema as a tenant wrote it; it is interpreted, never compiled. */
  schema: unknown
  value?: unknown
  onSubmit(value: unknown): Promise<unknown>
  /** For forms that are saved as one types. */
  onChange?: (value: unknown) => void
  submit?: ReactNode
  /** Buttons beside the submit button. */
  actions?: ReactNode
  disabled?: boolean
}

/** A form for any JSON Schema. Loaded when first needed. */
export const SchemaForm = (props: SchemaFormProps) => (
  <Suspense fallback={<Loading rows={3} />}>
    <Inside {...props} />
  </Suspense>
)
