import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Badge } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { CopyField } from '#web/ui/copy-field.tsx'
import { Switch } from '#web/ui/field.tsx'
import { Section } from '#web/ui/page.tsx'
import { type Fetched, Loaded } from '#web/ui/states.tsx'
import { type Column, Table, type TableProps } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { inSentence } from '#web/words/language.ts'

type Token = { token_id: string; name: string | null; prefix: string; enabled: boolean; last_used_at: string | null }

/** Tokens for the use of a workflow from outside: the owner creates, stops and deletes them one by one. */
export function TokenSection<Row extends Token>(props: {
  title: string
  description: string
  /** The name of one token: "Embed token". */
  one: string
  tokens: Fetched<Row[]> & { more: TableProps<Row>['more'] }
  isOwner: boolean
  empty: ReactNode
  columns: Column<Row>[]
  make(onClose: () => void): ReactNode
  enable(row: Row, enabled: boolean): void
  remove(row: Row): Promise<unknown>
  /** The address of the token's own page. */
  rowTo?: (row: Row) => string
  /** The consequence of deleting a token. */
  consequence: string
}) {
  const { title, one, tokens, isOwner } = props
  const [making, setMaking] = useState(false)
  const [deleting, setDeleting] = useState<Row | null>(null)
  const works = (row: Row): ReactNode =>
    isOwner ? (
      <Switch
        label={`${one} ${row.name ?? row.prefix} works`}
        hideLabel
        checked={row.enabled}
        onCheckedChange={(enabled) => props.enable(row, enabled)}
      />
    ) : (
      <Badge tone={row.enabled ? 'success' : 'neutral'}>{row.enabled ? 'yes' : 'no'}</Badge>
    )
  return (
    <Section
      title={title}
      description={props.description}
      actions={
        isOwner && (
          <Button size="small" icon={Plus} onClick={() => setMaking(true)}>
            New {inSentence(one)}
          </Button>
        )
      }
    >
      <Loaded of={tokens} what={`the ${inSentence(one)}s`}>
        {(rows) => (
          <Table
            label={title}
            rows={rows}
            more={tokens.more}
            rowKey={({ token_id }) => token_id}
            {...(props.rowTo && { rowTo: props.rowTo })}
            empty={props.empty}
            columns={[
              ...props.columns,
              { header: 'Enabled', width: '7rem', cell: works },
              {
                header: <span className="sr-only">Actions</span>,
                width: '6rem',
                align: 'right',
                cell: (row) =>
                  isOwner && (
                    <Button size="small" look="quiet" onClick={() => setDeleting(row)}>
                      Delete
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {making && props.make(() => setMaking(false))}
      <ConfirmDialog
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title={`Delete the ${inSentence(one)} ${deleting?.name ?? deleting?.prefix ?? ''}?`}
        consequence={props.consequence}
        action="Delete token"
        onConfirm={async () => deleting && props.remove(deleting)}
      />
    </Section>
  )
}

export const lastUsed = {
  header: 'Last used',
  width: '8rem',
  secondary: true,
  cell: (row: Token) => <RelativeTime at={row.last_used_at} />,
} satisfies Column<Token>

/** Shows the secret, which is shown only once. */
export function MadeToken({ secret, onClose, children }: { secret: string; onClose(): void; children?: ReactNode }) {
  return (
    <div className="flex flex-col gap-4">
      <CopyField label="Token" text={secret} secret />
      {children}
      <div className="flex justify-end">
        <Button look="primary" onClick={onClose}>
          Saved
        </Button>
      </div>
    </div>
  )
}
