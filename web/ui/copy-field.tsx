import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await copyText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <Button size="small" icon={copied ? Check : Copy} onClick={() => void copy()}>
      {copied ? 'Copied' : label}
    </Button>
  )
}

/** A text to copy; `secret` states that it is shown only once. */
export function CopyField({ label, text, secret = false }: { label: string; text: string; secret?: boolean }) {
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm font-medium">{label}</span>
      <div className="flex items-center gap-2 rounded-md border border-line-strong bg-sunken py-1 pr-1 pl-2.5">
        <code
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard
          tabIndex={0}
          className="min-w-0 flex-1 overflow-x-auto font-mono text-xs whitespace-nowrap"
          data-testid="copy-text"
        >
          {text}
        </code>
        <CopyButton text={text} />
      </div>
      {secret && (
        <p className="text-xs text-waiting">Copy it now. It is shown only once; if you lose it, create a new one.</p>
      )}
    </div>
  )
}

/** Copies a text. The clipboard API exists only on https and localhost; elsewhere the older API still works. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
