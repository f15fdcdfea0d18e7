import { Dialog } from '@base-ui/react/dialog'
import { ArrowRight } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from 'react'
import { bodyOf } from '#model/body'
import { portsOf } from '#model/graph-edges'
import { cx } from '#web/ui/cx.ts'
import { useSaveKey } from '#web/ui/save-key.ts'
import { toast } from '#web/ui/toast.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { add, join } from '../actions.ts'
import { freePort, type NodePort, refuseConnection } from '../document/commands.ts'
import { type DocGraph, type GraphPath, titleOf } from '../document/document.ts'
import { SearchBox } from '../search-box.tsx'
import { useServiceKinds } from '../services/service-kinds.ts'
import { type EditorStore, type QuickAdd as Quick, useEditor, useEditorStore } from '../store.ts'
import { KindTile } from './kind-tile.tsx'
import { foundServices, rankByTitle, searchKinds } from './search.ts'

type Entry = { key: string; text: string; icon: ReactNode; name: ReactNode; hint: string; choose(): void }

/** Adds a node, or connects to an existing node, by a few letters and Enter. */
export function QuickAdd() {
  const store = useEditorStore()
  const quick = useEditor((state) => state.quick)
  const onKeyDown = useSaveKey(() => leave(store))
  return (
    <Dialog.Root open={quick !== null} onOpenChange={(open) => !open && leave(store)}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-[#000]/25" />
        <Dialog.Popup
          // The focus moves to the added node, not back to the previous element.
          finalFocus={() => whereNext(store)}
          onKeyDown={onKeyDown}
          className="fixed top-[15vh] left-1/2 z-50 flex max-h-[60vh] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-raised shadow-raised outline-none"
        >
          <Dialog.Title className="sr-only">{quick ? TITLES[quick.mode] : ''}</Dialog.Title>
          {quick && <List quick={quick} />}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

const TITLES = { add: 'Add a node', connect: 'Connect', find: 'Find' }
const LABELS = { add: 'Find a node', connect: 'Connect to', find: 'Find in the workflow' }
const PLACEHOLDERS = {
  add: 'Add a node: http, branch, approval…',
  connect: 'Connect to…',
  find: 'Find a node by its name, kind, id or settings',
}

const leave = (store: EditorStore): void => {
  const { nodes } = store.get().selection
  store.set({ quick: null, focus: nodes.size === 1 ? [...nodes][0]! : '' })
}

const whereNext = (store: EditorStore): HTMLElement | null => {
  const { nodes } = store.get().selection
  const node = nodes.size === 1 ? `[data-node="${CSS.escape([...nodes][0]!)}"]` : null
  return (node && document.querySelector<HTMLElement>(node)) || document.querySelector<HTMLElement>('[data-canvas]')
}

function List({ quick }: { quick: NonNullable<Quick> }) {
  const store = useEditorStore()
  const [search, setSearch] = useState('')
  const [active, setActive] = useState(0)
  const id = useId()
  const entries = useEntries(quick, search)
  const current = Math.min(active, entries.length - 1)
  const choose = (entry: Entry | undefined): void => {
    if (!entry) return
    entry.choose()
    leave(store)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(current + 1, entries.length - 1))
    else if (event.key === 'ArrowUp') setActive(Math.max(current - 1, 0))
    else if (event.key === 'Enter') choose(entries[current])
    else return
    event.preventDefault()
  }
  return (
    <>
      <SearchBox
        large
        label={LABELS[quick.mode]}
        placeholder={PLACEHOLDERS[quick.mode]}
        value={search}
        list={`${id}-list`}
        active={entries[current] && `${id}-${current}`}
        onSearch={(text) => {
          setSearch(text)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Found" className="min-h-0 flex-1 overflow-y-auto p-1.5">
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox
          <div
            key={entry.key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            ref={(element) => {
              if (index === current) element?.scrollIntoView({ block: 'nearest' })
            }}
            className={cx(
              'flex cursor-default items-center gap-3 rounded-md px-2.5 py-1.5',
              index === current && 'bg-hover',
            )}
            onMouseMove={() => setActive(index)}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(entry)}
          >
            {entry.icon}
            <span className="shrink-0 font-medium">{entry.name}</span>
            <span className="min-w-0 truncate text-xs text-ink-3">{entry.hint}</span>
          </div>
        ))}
        {entries.length === 0 && <p className="px-3 py-6 text-center text-ink-3">No matches.</p>}
      </div>
    </>
  )
}

function useEntries(quick: NonNullable<Quick>, search: string): Entry[] {
  const store = useEditorStore()
  const services = useServiceKinds(store.kinds.table)
  return useMemo(() => {
    if (quick.mode === 'find') return foundNodes(store, search)
    const graph = store.graph()
    const kinds = [...searchKinds([...store.kinds.table.values()], search), ...foundServices(services, search)]
    const from = quick.mode === 'connect' ? graph.nodes.find(({ id }) => id === quick.from) : undefined
    const fresh = (after?: NodePort): Entry[] =>
      kinds.map((kind) => ({
        key: `${kind.type} ${kind.title}`,
        text: kind.title,
        icon: <KindTile kind={kind} className="size-7" />,
        name: kind.title,
        hint: kind.available ? kind.description : `Not configured: ${translateMessage(kind.unavailable_reason ?? '')}`,
        choose: () => void add(store, kind, quick.mode === 'add' ? { at: quick.at, after: quick.after } : { after }),
      }))
    if (!from) return fresh()
    const kind = store.kinds.table.get(from.type)
    const ports = kind ? portsOf(from, kind) : []
    const words = search.toLowerCase()
    const there = ports.flatMap((port) =>
      graph.nodes
        .filter(
          (node) =>
            titleOf(node).toLowerCase().includes(words) &&
            refuseConnection(graph, { node: from.id, port }, node.id) === null,
        )
        .map((node): Entry => {
          const its = store.kinds.table.get(node.type)
          return {
            key: `${port}/${node.id}`,
            text: titleOf(node),
            icon: its ? <KindTile kind={its} className="size-7" /> : <ArrowRight aria-hidden className="size-4" />,
            name: titleOf(node),
            hint: ports.length > 1 ? `by “${port}”` : 'existing node',
            choose: () => {
              const refused = join(store, { node: from.id, port }, node.id)
              if (refused) toast.tell(refused)
            },
          }
        }),
    )
    const free = freePort(graph, from, kind)
    return [...there, ...(free === undefined ? [] : fresh({ node: from.id, port: free }))]
  }, [store, services, quick, search])
}

/** Finds nodes at every depth, by any text in them; nodes with a title that fits come first. */
function foundNodes(store: EditorStore, search: string): Entry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const entries: Entry[] = []
  const rankOf = rankByTitle(search)
  const visit = (graph: DocGraph, path: GraphPath, around: string): void => {
    for (const node of graph.nodes) {
      const kind = store.kinds.table.get(node.type)
      const { body: _body, ...own } = node.args ?? {}
      const text = `${titleOf(node)} ${node.id} ${kind?.title ?? node.type} ${JSON.stringify(own)}`.toLowerCase()
      if (words.every((word) => text.includes(word)))
        entries.push({
          key: [...path, node.id].join('/'),
          text: titleOf(node),
          icon: kind ? <KindTile kind={kind} className="size-7" /> : <ArrowRight aria-hidden className="size-4" />,
          name: titleOf(node),
          hint: `${around}${kind?.title ?? node.type} · ${node.id}`,
          choose: () => {
            if (store.get().path.join('/') !== path.join('/')) store.open(path)
            store.select([node.id])
          },
        })
      const body = bodyOf(node)
      if (body && Array.isArray(body.nodes))
        visit(body as unknown as DocGraph, [...path, node.id], `${around}${titleOf(node)} › `)
    }
  }
  visit(store.doc(), [], '')
  return entries.sort((a, b) => rankOf(a.text) - rankOf(b.text)).slice(0, MAX_FOUND_NODES)
}

const MAX_FOUND_NODES = 100
