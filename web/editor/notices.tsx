import { History, TriangleAlert, Users } from 'lucide-react'
import type { ReactNode } from 'react'
import type { WorkflowVersion } from '#sdk/types.generated'
import { cx } from '#web/ui/cx.ts'
import { RelativeTime } from '#web/ui/time.tsx'
import { usePeople } from './versions/use-people.ts'

type Tone = 'tell' | 'warn'

export function Notice({
  tone = 'tell',
  icon: Icon,
  children,
  actions,
}: {
  tone?: Tone
  icon: typeof History
  children: ReactNode
  actions?: ReactNode
}) {
  return (
    <div
      role="status"
      className={cx(
        'flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5',
        tone === 'warn' ? 'bg-waiting-soft text-waiting' : 'bg-running-soft text-running',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1">{children}</span>
      {actions}
    </div>
  )
}

const NoticeButton = ({ onClick, children }: { onClick(): void; children: ReactNode }) => (
  <button type="button" onClick={onClick} className="rounded px-1.5 py-0.5 font-medium underline underline-offset-2">
    {children}
  </button>
)

export const RestoredNotice = ({ at, onDiscard, onClose }: { at: string; onDiscard(): void; onClose(): void }) => (
  <Notice
    icon={History}
    actions={
      <>
        <NoticeButton onClick={onDiscard}>Discard</NoticeButton>
        <NoticeButton onClick={onClose}>Keep</NoticeButton>
      </>
    }
  >
    Your unsaved changes were restored. They were stored on this device <RelativeTime at={at} />.
  </Notice>
)

export function NewerNotice({ version, onLook }: { version: WorkflowVersion; onLook(): void }) {
  const nameOf = usePeople()
  return (
    <Notice tone="warn" icon={TriangleAlert} actions={<NoticeButton onClick={onLook}>View</NoticeButton>}>
      {nameOf(version.created_by)} saved version {version.number} <RelativeTime at={version.created_at} />. Your draft
      is based on an older version.
    </Notice>
  )
}

export const OthersNotice = ({ names }: { names: string[] }) => (
  <Notice icon={Users}>
    {names.join(', ')} {names.length === 1 ? 'has' : 'have'} this workflow open too. Nothing is overwritten: each save
    creates a new version.
  </Notice>
)
