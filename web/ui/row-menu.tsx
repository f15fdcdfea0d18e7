import { Ellipsis, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from './button.tsx'
import { ConfirmDialog, type ConfirmProps } from './confirm.tsx'
import { Menu, MenuItem, MenuSeparator } from './menu.tsx'

type RowMenuProps = {
  /** Of what the row is about. */
  name: string
  /** Items of the menu. */
  children?: ReactNode
  /** What ends it, asked for once more; absent for people who may not. */
  removal?: Pick<ConfirmProps, 'title' | 'consequence' | 'action' | 'onConfirm'> | false
}

/** What one does with a thing without opening it. */
export function RowMenu({ name, children, removal }: RowMenuProps) {
  const [asking, setAsking] = useState(false)
  if (!children && !removal) return null
  return (
    <>
      <Menu trigger={<IconButton icon={Ellipsis} size="small" label={`Actions for ${name}`} />}>
        {children}
        {children && removal && <MenuSeparator />}
        {removal && (
          <MenuItem icon={Trash2} danger onSelect={() => setAsking(true)}>
            {removal.action}…
          </MenuItem>
        )}
      </Menu>
      {removal && <ConfirmDialog open={asking} onClose={() => setAsking(false)} {...removal} />}
    </>
  )
}

/** The last column of a list, without its cells. */
export const menuColumn = {
  header: <span className="sr-only">Actions</span>,
  width: '3.75rem',
  align: 'right',
} as const
