import { ChevronDown, ChevronRight } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { t } from '#web/words/language.ts'
import { CopyButton } from './copy-field.tsx'
import { cx } from './cx.ts'
import { Dialog } from './dialog.tsx'
import { formatNumber, plural } from './format.ts'
import { useWindow } from './window.ts'

// JSON as a tree of lines. Lines are flattened and virtualized, so that megabytes can be scrolled; text is never
// markup.

type Line = { path: string; depth: number; name: string | null; value: unknown; open: boolean | null; size: number }

const LINE_HEIGHT = 22
const LONG_TEXT = 160
const OPEN_AT_FIRST = 60

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null
const sizeOf = (value: object): number => (Array.isArray(value) ? value.length : Object.keys(value).length)

function flatten(value: unknown, isOpen: (path: string, depth: number, size: number) => boolean): Line[] {
  const lines: Line[] = []
  const walk = (current: unknown, name: string | null, path: string, depth: number): void => {
    if (!isTree(current)) {
      lines.push({ path, depth, name, value: current, open: null, size: 0 })
      return
    }
    const size = sizeOf(current)
    const open = size > 0 && isOpen(path, depth, size)
    lines.push({ path, depth, name, value: current, open: size > 0 ? open : null, size })
    if (!open) return
    for (const [key, child] of Object.entries(current)) walk(child, key, `${path}/${key}`, depth + 1)
  }
  walk(value, null, '', 0)
  return lines
}

export function JsonView({ value, label = 'JSON', className }: { value: unknown; label?: string; className?: string }) {
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [shown, setShown] = useState<string | null>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const lines = useMemo(
    () =>
      flatten(value, (path, depth, size) => toggled.get(path) ?? (depth === 0 || (depth < 3 && size <= OPEN_AT_FIRST))),
    [value, toggled],
  )
  const windowed = lines.length > 200
  const { from, to, before, after } = useWindow(scroller, lines.length, LINE_HEIGHT, windowed)
  const toggle = (line: Line): void => setToggled(new Map(toggled).set(line.path, !line.open))

  return (
    <div className={cx('relative rounded-md border border-line bg-sunken', className)}>
      <div className="absolute top-1 right-1 z-10">
        <CopyButton text={JSON.stringify(value, null, 2) ?? ''} />
      </div>
      <section
        ref={scroller}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard
        tabIndex={0}
        className="max-h-96 overflow-auto p-2 font-mono text-xs"
      >
        <div style={{ height: before }} />
        {lines.slice(from, to).map((line) => (
          <JsonLine key={line.path} line={line} onToggle={() => toggle(line)} onShow={setShown} />
        ))}
        <div style={{ height: after }} />
      </section>
      <Dialog open={shown !== null} onClose={() => setShown(null)} title="Text" size="large">
        <pre className="font-mono text-xs break-words whitespace-pre-wrap">{shown}</pre>
      </Dialog>
    </div>
  )
}

const counted = (size: number, one: string, many: string): string => (size === 0 ? '' : ` ${plural(size, one, many)} `)

function JsonLine({ line, onToggle, onShow }: { line: Line; onToggle(): void; onShow(text: string): void }) {
  const { depth, name, value, open, size } = line
  return (
    <div className="flex h-[22px] items-center whitespace-pre" style={{ paddingLeft: depth * 16 }}>
      {open === null ? (
        <span className="w-4 shrink-0" />
      ) : (
        <button
          type="button"
          onClick={onToggle}
          aria-expanded={open}
          aria-label={open ? `Collapse ${name ?? t('all')}` : `Expand ${name ?? t('all')}`}
          className="w-4 shrink-0 text-ink-3 hover:text-ink"
        >
          {open ? <ChevronDown aria-hidden className="size-3.5" /> : <ChevronRight aria-hidden className="size-3.5" />}
        </button>
      )}
      {name !== null && <span className="text-ink-2">{name}: </span>}
      {isTree(value) ? (
        <span className="text-ink-3">
          {Array.isArray(value)
            ? `[${counted(size, t('item'), t('items'))}]`
            : `{${counted(size, t('field'), t('fields'))}}`}
        </span>
      ) : (
        <Scalar value={value} onShow={onShow} />
      )}
    </div>
  )
}

function Scalar({ value, onShow }: { value: unknown; onShow(text: string): void }) {
  if (typeof value === 'string') {
    if (value.length <= LONG_TEXT && !value.includes('\n'))
      return <span className="text-success">{JSON.stringify(value)}</span>
    return (
      <>
        <span className="text-success">{JSON.stringify(value.slice(0, LONG_TEXT))}…</span>
        <button type="button" onClick={() => onShow(value)} className="ml-2 text-accent underline">
          all {formatNumber(value.length)} characters
        </button>
      </>
    )
  }
  if (value === undefined) return <span className="text-ink-3">nothing</span>
  return (
    <span className={value === null ? 'text-ink-3' : typeof value === 'boolean' ? 'text-waiting' : 'text-running'}>
      {String(value)}
    </span>
  )
}
