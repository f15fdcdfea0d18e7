import { useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useApi } from '#web/api.ts'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Card, Page } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'

/** The number of characters shown before and after the place that a link points to. */
const AROUND = 20_000

type Place = { from?: number; to?: number }

/** The text of a document, opened at the place of a passage. */
export function DocumentPage() {
  const { knowledge_id, document_id } = useParams({ strict: false }) as { knowledge_id: string; document_id: string }
  const { from = 0, to = 0 } = useSearch({ strict: false }) as Place
  const document = useApi('getKnowledgeDocument', { knowledge_id, document_id })
  const start = Math.max(0, from - AROUND)
  const text = useApi('getKnowledgeText', { knowledge_id, document_id, from: start, to: Math.max(from, to) + AROUND })
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
          <Loaded of={text} what="the text">
            {(part) => <Text text={part.text} from={from - part.from} to={to - part.from} />}
          </Loaded>
        </Page>
      )}
    </LoadedPage>
  )
}

function Text({ text, from, to }: { text: string; from: number; to: number }) {
  const place = useRef<HTMLElement>(null)
  useEffect(() => place.current?.scrollIntoView({ block: 'center' }), [])
  const characters = [...text]
  const part = (start: number, end?: number): string => characters.slice(start, end).join('')
  return (
    <Card className="p-4 break-words whitespace-pre-wrap">
      {to > from ? (
        <>
          {part(0, from)}
          <mark ref={place} className="rounded-xs bg-accent-soft text-ink">
            {part(from, to)}
          </mark>
          {part(to)}
        </>
      ) : (
        text
      )}
    </Card>
  )
}
