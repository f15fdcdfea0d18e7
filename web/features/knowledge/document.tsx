import { useInfiniteQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import type { DocumentText, KnowledgeDocument } from '#sdk/types.generated'
import { api, useApi } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { formatNumber } from '#web/ui/format.ts'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Card, Page } from '#web/ui/page.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'

/** The number of characters shown at first, before and after the place that a link points to. */
const AROUND = 20_000
/** The number of characters that a button adds. */
const MORE = 50_000

/** Milliseconds. */
const READ_EVERY = 2_000

const isBeingRead = ({ status }: KnowledgeDocument): boolean => status === 'pending' || status === 'indexing'

type Place = { from?: number; to?: number }
type Part = { from: number; to: number }

/** The text of a document, opened at the place of a passage. */
export function DocumentPage() {
  const { knowledge_id, document_id } = useParams({ strict: false }) as { knowledge_id: string; document_id: string }
  const document = useApi(
    'getKnowledgeDocument',
    { knowledge_id, document_id },
    { refetchInterval: ({ state }) => (state.data && isBeingRead(state.data) ? READ_EVERY : false) },
  )
  const crumbs = [
    { label: t('Knowledge'), to: '/knowledge' },
    { label: t('Documents'), to: `/knowledge/${knowledge_id}` },
  ]
  return (
    <LoadedPage of={document} what="the document" title="Document" crumbs={crumbs}>
      {(found) => (
        <Page
          title={found.name}
          crumbs={crumbs}
          description={found.error ? translateMessage(found.error.message) : undefined}
        >
          <Parts of={found} />
        </Page>
      )}
    </LoadedPage>
  )
}

/** A long text is loaded part by part, from the place of the passage to both ends. */
function Parts({ of: document }: { of: KnowledgeDocument }) {
  const { knowledge_id, document_id } = document
  const { from = 0, to = 0 } = useSearch({ strict: false }) as Place
  const text = useInfiniteQuery({
    queryKey: ['getKnowledgeText', { knowledge_id, document_id, from, to }, 'parts'],
    queryFn: ({ signal, pageParam }) => api.getKnowledgeText({ knowledge_id, document_id, ...pageParam }, { signal }),
    refetchInterval: ({ state }) => (isBeingRead(document) && state.data?.pages[0]?.total === 0 ? READ_EVERY : false),
    initialPageParam: { from: Math.max(0, from - AROUND), to: Math.max(from, to) + AROUND } as Part,
    getNextPageParam: (last) => (last.to < last.total ? { from: last.to, to: last.to + MORE } : undefined),
    getPreviousPageParam: (first) =>
      first.from > 0 ? { from: Math.max(0, first.from - MORE), to: first.from } : undefined,
  })
  return (
    <Loaded of={{ ...text, data: text.data?.pages }} what="the text">
      {(parts) => {
        const [first, last] = [parts[0]!, parts.at(-1)!]
        if (first.total === 0)
          return <Empty title="No text yet">{isBeingRead(document) && <>The document is still being read.</>}</Empty>
        return (
          <div className="flex flex-col gap-3">
            <Extent first={first} last={last}>
              {text.hasPreviousPage && (
                <Button pending={text.isFetchingPreviousPage} onClick={() => void text.fetchPreviousPage()}>
                  Show earlier text
                </Button>
              )}
            </Extent>
            <Text text={parts.map((part) => part.text).join('')} start={first.from} from={from} to={to} />
            {text.hasNextPage && (
              <Extent first={first} last={last}>
                <Button pending={text.isFetchingNextPage} onClick={() => void text.fetchNextPage()}>
                  Show more
                </Button>
              </Extent>
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

/** Says which part of the text is shown, unless it is the whole. */
function Extent({ first, last, children }: { first: DocumentText; last: DocumentText; children: ReactNode }) {
  if (first.from === 0 && last.to >= last.total) return null
  const shown = [first.from + 1, last.to, last.total].map(formatNumber)
  return (
    <div className="flex flex-wrap items-center gap-3 text-ink-2">
      <p>{t('Characters {0} to {1} of {2} are shown.', shown)}</p>
      {children}
    </div>
  )
}

/** The text from `start` on, with the place between `from` and `to` marked. All three are positions in the document. */
function Text({ text, start, from, to }: Part & { text: string; start: number }) {
  const all = useRef<HTMLDivElement>(null)
  const place = useRef<HTMLElement>(null)
  const before = useRef({ start, height: 0 })
  useEffect(() => place.current?.scrollIntoView({ block: 'center' }), [])
  // What the person reads stays where it is when earlier text appears above it. The anchoring of the browser does
  // nothing at the top of the page, where the button is, and elsewhere it would add to this.
  useLayoutEffect(() => {
    const height = all.current?.offsetHeight ?? 0
    if (start < before.current.start) window.scrollBy({ top: height - before.current.height, behavior: 'instant' })
    before.current = { start, height }
  })
  const characters = [...text]
  const part = (first: number, end?: number): string => characters.slice(first, end).join('')
  return (
    <div ref={all} className="[overflow-anchor:none]">
      <Card className="p-4 break-words whitespace-pre-wrap">
        {to > from ? (
          <>
            {part(0, from - start)}
            <mark ref={place} className="rounded-xs bg-accent-soft text-ink">
              {part(from - start, to - start)}
            </mark>
            {part(to - start)}
          </>
        ) : (
          text
        )}
      </Card>
    </div>
  )
}
