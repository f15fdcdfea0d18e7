import { ViewportPortal } from '@xyflow/react'
import { MousePointer2 } from 'lucide-react'
import { useEditor } from '../store.ts'
import type { PresentUser } from './use-presence.ts'

/** The pointers of colleagues in the open graph. */
export function Cursors({ people }: { people: readonly PresentUser[] }) {
  const path = useEditor((state) => state.path.join('/'))
  const shown = people.filter(({ pointer }) => pointer?.path === path)
  if (shown.length === 0) return null
  return (
    <ViewportPortal>
      {shown.map(({ user_id, name, pointer }) => (
        <div
          key={user_id}
          data-cursor={user_id}
          aria-hidden
          className="pointer-events-none absolute z-10 flex items-start text-running transition-transform duration-1000 ease-linear motion-reduce:transition-none"
          style={{ transform: `translate(${pointer!.x}px, ${pointer!.y}px)` }}
        >
          <MousePointer2 className="size-4 fill-current" />
          <span className="mt-3 rounded bg-running px-1 text-[10px] whitespace-nowrap text-surface">{name}</span>
        </div>
      ))}
    </ViewportPortal>
  )
}
