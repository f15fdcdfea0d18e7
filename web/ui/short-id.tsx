import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { copyText } from './copy-field.tsx'

/** An id without a known name: its kind and its end; a click copies the whole id. */
export function ShortId({ id }: { id: string }) {
  const [copied, setCopied] = useState(false)
  const Icon = copied ? Check : Copy
  const copy = async (): Promise<void> => {
    await copyText(id)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <button
      type="button"
      title={id}
      aria-label={`Copy ${id}`}
      onClick={() => void copy()}
      className="inline-flex max-w-full items-center gap-1.5 rounded font-mono text-xs text-ink-2 hover:text-ink"
    >
      <span className="truncate">{shortened(id)}</span>
      <Icon aria-hidden className="size-3 shrink-0" />
    </button>
  )
}

const shortened = (id: string): string => id.replace(/^([a-z]+_)\w+(\w{6})$/, '$1…$2')
