import { StickyNote, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useChange, useList } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { Field, Textarea } from '#web/ui/field.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

/** Notes among colleagues; the visitor never sees them. */
export function Notes({ threadId, every, mayWrite }: { threadId: string; every: number; mayWrite: boolean }) {
  const notes = useList('listConversationNotes', { thread_id: threadId, limit: 200 }, { refetchInterval: every })
  const { nameOf } = usePeople()
  const { userId, isOwner } = useRole()
  const [text, setText] = useState('')
  const add = useChange('createConversationNote', {
    stale: ['listConversationNotes'],
    failed: 'Could not save the note',
    onDone: () => setText(''),
  })
  const remove = useChange('deleteConversationNote', {
    stale: ['listConversationNotes'],
    failed: 'Could not delete the note',
  })
  return (
    <section aria-label="Notes" className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">Notes</h3>
      <Loaded of={notes} what="the notes" rows={2}>
        {(rows) => (
          <ul className="flex flex-col gap-2">
            {rows.map((note) => (
              <li key={note.note_id} className="rounded-md bg-waiting-soft px-3 py-2">
                <span className="flex items-center gap-2 text-xs text-ink-2">
                  <span className="min-w-0 flex-1">
                    {nameOf(note.author_id)} · <RelativeTime at={note.created_at} />
                  </span>
                  {(isOwner || note.author_id === userId) && (
                    <IconButton
                      size="small"
                      icon={Trash2}
                      label="Delete note"
                      onClick={() => remove.mutate({ thread_id: threadId, note_id: note.note_id })}
                    />
                  )}
                </span>
                <p className="whitespace-pre-wrap">{note.text}</p>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {mayWrite && (
        <form
          className="flex flex-col gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            if (text.trim() !== '') add.mutate({ thread_id: threadId, text: text.trim() })
          }}
        >
          <Field label="New note" hideLabel hint="Only your colleagues can read it.">
            <Textarea
              rows={2}
              maxLength={4000}
              value={text}
              placeholder="Write a note"
              onChange={(event) => setText(event.target.value)}
            />
          </Field>
          <Button type="submit" size="small" icon={StickyNote} pending={add.isPending} disabled={text.trim() === ''}>
            Add note
          </Button>
        </form>
      )}
    </section>
  )
}
