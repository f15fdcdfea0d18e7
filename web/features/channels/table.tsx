import type { ReactNode } from 'react'
import type { ChannelConfig } from '#sdk/types.generated'
import { Badge } from '#web/ui/badge.tsx'
import { menuColumn } from '#web/ui/row-menu.tsx'
import { Table, type TableProps } from '#web/ui/table.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { ChannelMenu } from './row-menu.tsx'
import { vendors } from './vendors.tsx'

const nameOf = (channel: ChannelConfig): string =>
  channel.name ?? `${vendors[channel.channel].title} ${channel.external_id}`

export const ChannelTable = ({
  rows,
  more,
  empty,
}: {
  rows: ChannelConfig[]
  more: TableProps<ChannelConfig>['more']
  empty: ReactNode
}) => (
  <Table
    label="Channels"
    rows={rows}
    rowKey={(row) => row.config_id}
    rowTo={(row) => `/channels/${row.config_id}`}
    more={more}
    empty={empty}
    columns={[
      {
        header: 'Name',
        link: true,
        cell: nameOf,
      },
      { header: 'Channel', cell: (row) => vendors[row.channel].title, width: '7rem', secondary: true },
      { header: 'Account', cell: (row) => <span className="text-ink-2">{row.external_id}</span>, secondary: true },
      {
        header: 'State',
        cell: (row) =>
          row.enabled && row.problem !== null ? (
            <Badge tone="danger">Problem</Badge>
          ) : (
            <Badge tone={row.enabled ? 'success' : 'neutral'}>{row.enabled ? 'On' : 'Off'}</Badge>
          ),
        width: '6rem',
      },
      { header: 'Changed', cell: (row) => <RelativeTime at={row.updated_at} />, width: '9rem', secondary: true },
      { ...menuColumn, cell: (row) => <ChannelMenu channel={row} name={nameOf(row)} /> },
    ]}
  />
)
