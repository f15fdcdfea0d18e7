import { MessageCircle, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ChannelIdentity } from '#sdk/types.generated'
import { useApi, useChange, useList } from '#web/api.ts'
import { Button, IconButton } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Section } from '#web/ui/page.tsx'
import { Table } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { toast } from '#web/ui/toast.tsx'

const LOOK_WHILE_LINKING = 2_000

const vendors: Record<ChannelIdentity['channel'], string> = { slack: 'Slack', telegram: 'Telegram', discord: 'Discord' }

/** Chat accounts in which the user is asked with buttons. Hidden if the workspace has no such channel. */
export function ChatApps() {
  const reachable = useApi('listReachableChannels')
  const [asked, setAsked] = useState<ChannelIdentity | null>(null)
  /** The text to send to the bot, and the number of accounts linked before. */
  const [linking, setLinking] = useState<{ text: string; before: number } | null>(null)
  const every = linking === null ? 10_000 : LOOK_WHILE_LINKING
  const linked = useList('listChannelIdentities', { limit: 100 }, { refetchInterval: every })
  const link = useChange('linkChannel', {
    failed: 'Could not link the chat',
    onDone: ({ text }) => setLinking({ text, before: rows.length }),
  })
  const remove = useChange('deleteChannelIdentity', {
    stale: ['listChannelIdentities'],
    done: 'The chat was unlinked',
  })
  const rows = linked.data ?? []
  const open = (reachable.data?.channels ?? []).filter(
    ({ config_id }) => !rows.some((row) => row.config_id === config_id),
  )
  const isLinked = linking !== null && rows.length > linking.before
  useEffect(() => {
    if (!isLinked) return
    setLinking(null)
    toast.done('The chat was linked')
  }, [isLinked])
  if (rows.length === 0 && open.length === 0) return null
  return (
    <Section
      title="Chat apps"
      description="Votes and questions come to your chat, with buttons. Your account there proves who you are."
      className="mt-10"
    >
      {rows.length > 0 && (
        <Table
          label="Chat apps"
          rows={rows}
          rowKey={(row) => row.identity_id}
          columns={[
            { header: 'App', cell: (row) => vendors[row.channel], width: '8rem' },
            { header: 'Account', cell: (row) => <span className="break-words">{row.sender_name}</span> },
            { header: 'Linked', cell: (row) => <RelativeTime at={row.created_at} />, width: '9rem', secondary: true },
            {
              header: <span className="sr-only">Actions</span>,
              cell: (row) => (
                <IconButton
                  icon={Trash2}
                  size="small"
                  label={`Unlink ${row.sender_name}`}
                  onClick={() => setAsked(row)}
                />
              ),
              width: '4rem',
              align: 'right',
            },
          ]}
        />
      )}
      <div className="mt-3 flex flex-wrap gap-2">
        {open.map(({ config_id, channel, name }) => (
          <Button
            key={config_id}
            icon={MessageCircle}
            pending={link.isPending}
            onClick={() => link.mutate({ config_id })}
          >
            {name === null ? `Link ${vendors[channel]}` : `Link ${vendors[channel]} (${name})`}
          </Button>
        ))}
      </div>
      <Dialog
        open={linking !== null}
        onClose={() => setLinking(null)}
        title="Link a chat"
        description="Send this text to the bot of the channel in a direct message, from your own account. It works once, for fifteen minutes."
      >
        <CopyField label="Text" text={linking?.text ?? ''} />
      </Dialog>
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title={`Unlink ${asked?.sender_name}?`}
        consequence="Nothing is sent there any more, and buttons of earlier messages stop working."
        action="Unlink chat"
        onConfirm={() => remove.mutateAsync({ identity_id: asked!.identity_id })}
      />
    </Section>
  )
}
