import { cx } from '#web/ui/cx.ts'
import { colourOf, iconOf } from '../canvas/icons.ts'
import type { Kind } from '../kinds.ts'

export const KIND_TYPE = 'application/x-heddle-kind'

export function KindTile({ kind, className }: { kind: Kind; className?: string }) {
  const Icon = iconOf(kind.icon)
  return (
    <span
      className={cx('grid shrink-0 place-items-center rounded text-[#fff]', className ?? 'size-6')}
      style={{ backgroundColor: colourOf(kind.colour) }}
    >
      <Icon aria-hidden className="size-3.5" />
    </span>
  )
}
