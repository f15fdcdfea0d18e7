import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { cx } from './cx.ts'
import { useFinalFocus } from './final-focus.ts'
import { useSaveKey } from './save-key.ts'

export type DialogProps = {
  open: boolean
  onClose(): void
  title: ReactNode
  description?: ReactNode
  children?: ReactNode
  size?: 'small' | 'medium' | 'large'
  /**
   * False for a dialog that opens by itself: a click or Escape that was meant for the page does not close it, and it has
   * no Close button. Its children offer the ways out.
   */
  canClose?: boolean
  /**
   * Replaces the action of Ctrl S on a page that saves with it. By default the key submits the form of the dialog, or
   * closes the dialog and saves the page.
   */
  onSaveKey?: () => void
}

const widths = { small: 'max-w-md', medium: 'max-w-xl', large: 'max-w-4xl' }

export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  size = 'small',
  canClose = true,
  onSaveKey,
}: DialogProps) {
  const onKeyDown = useSaveKey(onClose, onSaveKey)
  const finalFocus = useFinalFocus(open)
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && canClose && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-[#000]/40" />
        <Base.Popup
          onKeyDown={onKeyDown}
          finalFocus={finalFocus}
          className={cx(
            'fixed top-1/2 left-1/2 z-50 flex max-h-[min(90dvh,56rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border border-line bg-raised shadow-raised',
            widths[size],
          )}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-base font-semibold">{title}</Base.Title>
              {description && <Base.Description className="mt-1 text-ink-2">{description}</Base.Description>}
            </div>
            {canClose && <Base.Close render={<IconButton icon={X} label="Close" size="small" />} />}
          </header>
          <div className="min-h-0 overflow-y-auto px-5 pt-2 pb-5">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
