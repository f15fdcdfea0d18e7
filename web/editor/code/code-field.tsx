import { lazy, type Ref, Suspense } from 'react'
import { cx } from '#web/ui/cx.ts'
import { inputClass } from '#web/ui/field.tsx'
import type { CodeFieldProps, CodeHandle } from './code-props.ts'

const Inside = lazy(() => import('./code-inside.tsx').then(({ CodeInside }) => ({ default: CodeInside })))

/**
 * A text field for a language, with colours, completion and inline problems. The code editor is loaded when the first
 * field is shown.
 */
export const CodeField = (props: CodeFieldProps & { ref?: Ref<CodeHandle> }) => (
  <Suspense
    fallback={
      <div className={cx(inputClass, 'min-h-13 py-1.5 font-mono text-xs leading-5 whitespace-pre-wrap')}>
        {props.value}
      </div>
    }
  >
    <Inside {...props} />
  </Suspense>
)
