const LONGEST = 200

/** A value of a record as text: no value ever becomes markup. */
export function Cell({ value }: { value: unknown }) {
  if (value === undefined) return <span className="text-ink-3">–</span>
  if (value === null) return <span className="text-ink-3">null</span>
  if (typeof value === 'string') {
    const text = value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value
    return text === '' ? <span className="text-ink-3">empty</span> : <span title={text}>{text}</span>
  }
  if (typeof value === 'number') return <span className="tabular-nums">{String(value)}</span>
  if (typeof value === 'boolean') return <span className="text-ink-2">{String(value)}</span>
  const text = JSON.stringify(value)
  return (
    <code className="font-mono text-xs text-ink-2" title={text.slice(0, 500)}>
      {text.slice(0, LONGEST)}
    </code>
  )
}
