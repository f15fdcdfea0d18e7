import { type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import { cx } from '#web/ui/cx.ts'
import type { CodeFieldProps, CodeHandle } from './code-props.ts'
import { type CodeView, mountCode } from './mount.ts'

/**
 * The code editor is in a shadow root: it has its own style sheets, which the content security policy allows there as
 * constructed style sheets but not as <style> elements.
 */
export function CodeInside(props: CodeFieldProps & { ref?: Ref<CodeHandle> }) {
  const { ref, value, disabled = false, invalid = false, rows = 2 } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<CodeView | null>(null)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const mounted = mountCode(host.current!, latest)
    view.current = mounted
    return () => mounted.destroy()
  }, [])
  useEffect(() => view.current?.show(value), [value])
  useEffect(() => view.current?.disable(disabled), [disabled])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is wrong depends on what the fields may name
  useEffect(() => view.current?.checkAgain(), [props.faults])
  useImperativeHandle(ref, () => ({ insert: (text: string) => view.current?.insert(text) }), [])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the text box inside is what has the keyboard
    <div
      ref={host}
      data-code
      onBlur={props.onBlur}
      className={cx(
        'w-full overflow-hidden rounded-md border bg-sunken focus-within:outline-2 focus-within:outline-accent',
        invalid ? 'border-danger' : 'border-line-strong',
        disabled && 'opacity-60',
      )}
      style={{ '--code-rows': rows } as React.CSSProperties}
    />
  )
}
