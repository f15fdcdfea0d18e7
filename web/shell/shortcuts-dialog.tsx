import { Dialog } from '#web/ui/dialog.tsx'
import { shortcutPages } from './shortcut-pages.ts'

const onPages: [keys: string, what: string][] = [
  ['j / k', 'Next and previous approval'],
  ['a / r', 'Approve, reject'],
  ['Ctrl K', 'Find anything'],
  ['?', 'This list'],
]

export const ShortcutsDialog = ({ onClose }: { onClose(): void }) => (
  <Dialog open onClose={onClose} title="Keyboard shortcuts">
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      {Object.entries(shortcutPages).map(([key, { label }]) => (
        <Row key={key} keys={`g ${key}`} what={label} />
      ))}
      {onPages.map(([keys, what]) => (
        <Row key={keys} keys={keys} what={what} />
      ))}
    </dl>
  </Dialog>
)

const Row = ({ keys, what }: { keys: string; what: string }) => (
  <div className="col-span-2 grid grid-cols-subgrid">
    <dt>
      <kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">{keys}</kbd>
    </dt>
    <dd>{what}</dd>
  </div>
)
