import { SearchX } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { Field, Input } from './field.tsx'
import { Empty } from './states.tsx'

const PAUSE_MS = 200

export type Search = {
  /** The text in the search box. */
  text: string
  setText(text: string): void
  /** For the list's query: the text after a pause in typing; empty if there is no text. */
  query: { q?: string }
}

export function useSearchText(initial = ''): Search {
  const [text, setText] = useState(initial)
  const [q, setQ] = useState(initial)
  useEffect(() => {
    const timer = setTimeout(() => setQ(text.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return { text, setText, query: q === '' ? {} : { q } }
}

type SearchFieldProps = { search: Search; label?: string; placeholder?: string }

export const SearchField = ({ search, label = 'Search', placeholder = 'Search' }: SearchFieldProps) => (
  <Field label={label} hideLabel className="min-w-48 flex-1">
    <Input
      type="search"
      placeholder={placeholder}
      maxLength={200}
      value={search.text}
      onChange={(event) => search.setText(event.target.value)}
    />
  </Field>
)

/** The empty state of a list that can be searched. */
export const emptyWith = (search: Search, empty: ReactNode): ReactNode =>
  search.query.q === undefined ? empty : <NoMatch search={search} />

const NoMatch = ({ search }: { search: Search }) => (
  <Empty
    icon={SearchX}
    title="Nothing matches"
    action={<Button onClick={() => search.setText('')}>Clear search</Button>}
  >
    Nothing here contains “{search.query.q ?? search.text}”.
  </Empty>
)

/** The search box above a list; hidden while there is nothing to search. */
export const SearchBar = ({ search, rows }: { search: Search; rows: readonly unknown[] | undefined }) =>
  search.text !== '' || search.query.q !== undefined || (rows?.length ?? 0) > 0 ? (
    <div className="mb-4 flex max-w-md">
      <SearchField search={search} />
    </div>
  ) : null
