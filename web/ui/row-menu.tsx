import { Ellipsis, Link2, PencilLine, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from './button.tsx'
import { ConfirmDialog, type ConfirmProps } from './confirm.tsx'
import { copyText } from './copy-field.tsx'
import { Dialog } from './dialog.tsx'
import { Field, Form, Input } from './field.tsx'
import { Menu, MenuItem, MenuSeparator } from './menu.tsx'
import { toast } from './toast.tsx'

type RowMenuProps = {
  /** The name of the row's resource. */
  name: string
  /** Items of the menu. */
  children?: ReactNode
  /** The path of its page, whose address can be copied. */
  path?: string
  /** Renames the resource; absent for users who may not. */
  rename?: ((name: string) => Promise<unknown>) | false
  /** The confirmation for deleting the resource; absent for users who may not. */
  removal?: Pick<ConfirmProps, 'title' | 'consequence' | 'action' | 'onConfirm'> | false
}

/** The actions of a resource that do not need its page. */
export function RowMenu({ name, children, path, rename, removal }: RowMenuProps) {
  const [open, setOpen] = useState<'rename' | 'removal' | null>(null)
  const close = (): void => setOpen(null)
  const copyLink = async (to: string): Promise<void> => {
    try {
      await copyText(new URL(to, window.location.origin).href)
      toast.done('Link copied')
    } catch (error) {
      toast.failed('Could not copy the link', error)
    }
  }
  const hasOthers = Boolean(children || rename || path !== undefined)
  if (!hasOthers && !removal) return null
  return (
    <>
      <Menu trigger={<IconButton icon={Ellipsis} size="small" label={`Actions for ${name}`} />}>
        {children}
        {rename && (
          <MenuItem icon={PencilLine} onSelect={() => setOpen('rename')}>
            Rename…
          </MenuItem>
        )}
        {path !== undefined && (
          <MenuItem icon={Link2} onSelect={() => void copyLink(path)}>
            Copy link
          </MenuItem>
        )}
        {hasOthers && removal && <MenuSeparator />}
        {removal && (
          <MenuItem icon={Trash2} danger onSelect={() => setOpen('removal')}>
            {removal.action}…
          </MenuItem>
        )}
      </Menu>
      {rename && (
        <Dialog open={open === 'rename'} onClose={close} title={`Rename ${name}`}>
          <Form<{ name: string }>
            submit="Rename"
            onCancel={close}
            onSubmit={async (given) => {
              await rename(given.name)
              close()
            }}
          >
            <Field name="name" label="Name">
              <Input required autoFocus maxLength={200} defaultValue={name} />
            </Field>
          </Form>
        </Dialog>
      )}
      {removal && <ConfirmDialog open={open === 'removal'} onClose={close} {...removal} />}
    </>
  )
}

/** The last column of a list, without its cells. */
export const menuColumn = {
  header: <span className="sr-only">Actions</span>,
  width: '3.75rem',
  align: 'right',
} as const
