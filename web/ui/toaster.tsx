import { Toast as Base } from '@base-ui/react/toast'
import { CircleAlert, CircleCheck, Info, X } from 'lucide-react'
import { useEffect } from 'react'
import { t } from '#web/words/language.ts'
import { IconButton } from './button.tsx'
import { connectToaster, type ToastMessage } from './toast.tsx'

const manager = Base.createToastManager()

/** How long each kind stays, in ms; failures stay longer so that they can be read. */
const stays: Record<ToastMessage['kind'], number> = { done: 4_000, tell: 7_000, failed: 10_000 }

const add = ({ kind, title, description }: ToastMessage): void =>
  void manager.add({
    title,
    description,
    type: kind,
    timeout: stays[kind],
    ...(kind === 'failed' && { priority: 'high' as const }),
  })

const icons = { done: CircleCheck, tell: Info, failed: CircleAlert }
const tones = { done: 'text-success', tell: 'text-running', failed: 'text-danger' }

function List() {
  const { toasts } = Base.useToastManager()
  return toasts.map((shown) => {
    const kind = (shown.type ?? 'tell') as keyof typeof icons
    const Icon = icons[kind]
    return (
      <Base.Root
        key={shown.id}
        toast={shown}
        className="flex w-full items-start gap-2.5 rounded-lg border border-line bg-raised p-3 shadow-raised"
      >
        <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${tones[kind]}`} />
        <Base.Content className="min-w-0 flex-1">
          <Base.Title className="font-medium" />
          <Base.Description className="break-words text-ink-2" />
        </Base.Content>
        <Base.Close render={<IconButton icon={X} label="Dismiss" size="small" />} />
      </Base.Root>
    )
  })
}

export function Toaster() {
  useEffect(() => connectToaster(add), [])
  return (
    <Base.Provider toastManager={manager} limit={4}>
      <Base.Portal>
        <Base.Viewport
          aria-label={t('Notifications')}
          className="fixed right-4 bottom-4 z-60 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2"
        >
          <List />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  )
}
