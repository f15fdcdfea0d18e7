import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Page } from './page.tsx'
import { emptyWith, type Search, SearchBar } from './search.tsx'
import { Empty, type Fetched, Loaded } from './states.tsx'
import { Table, type TableProps } from './table.tsx'

type ListPageProps<Row> = Pick<TableProps<Row>, 'columns' | 'rowKey' | 'rowTo'> & {
  title: string
  description: ReactNode
  /** The plural noun with its article, as in "Could not load the teams". */
  what: string
  list: Fetched<Row[]> & Pick<TableProps<Row>, 'more'>
  /** The button that creates an item, for users who may; also shown in the empty state. */
  create?: ReactNode
  empty: { icon: LucideIcon; title: string; text?: ReactNode }
  /** The result of `useSearchText`, for lists that accept `q`. */
  search: Search
  /** Shown above the table. */
  notice?: ReactNode
  /** Dialogs. */
  children?: ReactNode
}

/** A page that lists resources of one kind: heading, button, table, empty state. */
export const ListPage = <Row,>({
  title,
  description,
  what,
  list,
  create,
  empty,
  search,
  notice,
  children,
  ...table
}: ListPageProps<Row>) => (
  <Page title={title} description={description} actions={create}>
    {notice}
    <SearchBar search={search} rows={list.data} />
    <Loaded of={list} what={what}>
      {(rows) => (
        <Table
          label={title}
          rows={rows}
          more={list.more}
          empty={emptyWith(
            search,
            <Empty icon={empty.icon} title={empty.title} action={create}>
              {empty.text}
            </Empty>,
          )}
          {...table}
        />
      )}
    </Loaded>
    {children}
  </Page>
)
