import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'

export const AddButton = ({ onClick, children }: { onClick(): void; children: ReactNode }) => (
  <button
    type="button"
    data-add
    onClick={onClick}
    className="inline-flex w-fit items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium text-accent-strong hover:bg-accent-soft"
  >
    <Plus aria-hidden className="size-3.5" />
    {children}
  </button>
)
