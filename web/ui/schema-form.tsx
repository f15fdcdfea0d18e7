import { lazy, Suspense } from 'react'
import type { SchemaFormProps } from './schema-form-props.ts'
import { Loading } from './states.tsx'

const Inside = lazy(() =>
  import('./schema-form-inside.tsx').then(({ SchemaFormInside }) => ({ default: SchemaFormInside })),
)

/** A form for any JSON Schema. Loaded when first needed. */
export const SchemaForm = (props: SchemaFormProps) => (
  <Suspense fallback={<Loading rows={3} />}>
    <Inside {...props} />
  </Suspense>
)
