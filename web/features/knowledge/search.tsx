import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState } from 'react'
import type { KnowledgePassage } from '#sdk/types.generated'
import { useApi } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Field, Input } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { Marked } from './marked.tsx'

/** Shows what workflows and assistants would find. */
export function SearchPreview({ knowledgeId }: { knowledgeId: string }) {
  const [asked, setAsked] = useState('')
  return (
    <Section title="Search" description="Ask as a visitor would, and see the passages that an assistant would read.">
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(String(new FormData(event.currentTarget).get('q') ?? '').trim())
        }}
      >
        <Field name="q" label="Question" className="flex-1">
          <Input maxLength={1000} placeholder="How many days of leave do I have?" />
        </Field>
        <Button type="submit" icon={Search}>
          Search
        </Button>
      </form>
      {asked !== '' && <Found knowledgeId={knowledgeId} q={asked} />}
    </Section>
  )
}

function Found({ knowledgeId, q }: { knowledgeId: string; q: string }) {
  const found = useApi('searchKnowledge', { knowledge_id: knowledgeId, q, limit: 5 })
  return (
    <div className="mt-4" aria-live="polite">
      <Loaded of={found} what="the passages">
        {({ passages }) =>
          passages.length === 0 ? (
            <p className="text-ink-2">Nothing was found.</p>
          ) : (
            <ol className="flex flex-col gap-3">
              {passages.map((passage) => (
                <li key={`${passage.document_id} ${passage.position}`}>
                  <Passage knowledgeId={knowledgeId} passage={passage} />
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </div>
  )
}

function Passage({ knowledgeId, passage }: { knowledgeId: string; passage: KnowledgePassage }) {
  const { document_id, document_name, heading, from, to } = passage
  return (
    <Card>
      <p className="mb-1 text-xs text-ink-2">
        <Link
          to={`/knowledge/${knowledgeId}/documents/${document_id}`}
          search={{ from, to }}
          className="font-medium text-ink underline"
        >
          {document_name}
        </Link>
        {heading.length > 0 && ` › ${heading.join(' › ')}`}
      </p>
      <p className="max-h-48 overflow-y-auto break-words whitespace-pre-wrap">
        <Marked text={passage.text} places={passage.highlights as [number, number][]} />
      </p>
    </Card>
  )
}
