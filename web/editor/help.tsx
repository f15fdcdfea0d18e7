import { Dialog } from '#web/ui/dialog.tsx'
import { bindings } from './keys.ts'
import { useEditor, useEditorStore } from './store.ts'

const isMac = (): boolean => /mac/i.test(navigator.platform)

export function Help() {
  const store = useEditorStore()
  const open = useEditor((state) => state.help)
  return (
    <Dialog open={open} onClose={() => store.set({ help: false })} title="Editor shortcuts" size="medium">
      <dl className="grid gap-x-8 gap-y-2 sm:grid-cols-2">
        <div className="flex items-baseline gap-3">
          <dt className="w-32 shrink-0">
            <kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">
              {isMac() ? '⌘ K' : 'Ctrl K'}
            </kbd>
          </dt>
          <dd>Find anything in the console</dd>
        </div>
        {bindings
          .filter(({ what }) => what !== '')
          .map(({ shown, what }) => (
            <div key={what} className="flex items-baseline gap-3">
              <dt className="w-32 shrink-0">
                <kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-xs">
                  {isMac() ? shown.replaceAll('Ctrl', '⌘') : shown}
                </kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
      </dl>
      <p className="mt-4 text-ink-2">
        With the mouse: drag from a dot to connect, hold Shift and drag to select several nodes, drag the end of a
        connection to move it. Copy and paste work between workflows.
      </p>
    </Dialog>
  )
}
