import { lazy, type ReactNode, Suspense } from 'react'
import type { SchemaFormProps } from './schema-form-props.ts'
import { Loading } from './states.tsx'

const Inside = lazy(() =>
  import('./schema-form-inside.tsx').then(({ SchemaFormInside }) => ({ default: SchemaFormInside })),
)

type Props = SchemaFormProps & {
  /** Another key makes a new form, with the present `value`. */
  formKey?: number
  /** Appears below the form, and not before it: otherwise the form would move it away from the pointer. */
  children?: ReactNode
}

/** A form for any JSON Schema. Loaded when first needed. */
export const SchemaForm = ({ formKey, children, ...form }: Props) => (
  <Suspense fallback={<Loading rows={3} />}>
    <Inside key={formKey} {...form} />
    {children}
  </Suspense>
)
