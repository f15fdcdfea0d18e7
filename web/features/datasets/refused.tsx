import { useEffect, useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import { cx } from '#web/ui/cx.ts'
import { messageOf } from '#web/ui/messages.ts'
import { type LineOfFile, lineIn, linesAround } from './bad-line.ts'

/** Why the file was refused, with the line in question. */
export function Refused({ error, file }: { error: unknown; file: File | null }) {
  const [lines, setLines] = useState<LineOfFile[]>([])
  const message = error instanceof HeddleProblem ? error.message : messageOf(error)
  const line = lineIn(message)
  useEffect(() => {
    let gone = false
    setLines([])
    if (file && line !== null)
      void linesAround(file, line).then(
        (found) => !gone && setLines(found),
        () => {},
      )
    return () => {
      gone = true
    }
  }, [file, line])
  return (
    <div role="alert" className="rounded-lg bg-danger-soft p-4 text-danger">
      <p className="font-semibold">The file was not imported</p>
      <p className="mt-1 break-words">{message}</p>
      {lines.length > 0 && (
        <pre className="mt-3 overflow-x-auto rounded bg-surface p-2 font-mono text-xs text-ink">
          {lines.map(({ number, text, bad }) => (
            <div key={number} className={cx('flex gap-3', bad && 'font-semibold text-danger')}>
              <span className="w-12 shrink-0 text-right text-ink-2">{number}</span>
              <span>{text}</span>
            </div>
          ))}
        </pre>
      )}
    </div>
  )
}
