import { Check, RotateCcw, Trash2, X } from 'lucide-react'
import { useRef, useState } from 'react'
import type { Workflow, WorkflowComment } from '#sdk/types.generated'
import { useChange, useList } from '#web/api.ts'
import { roleIn } from '#web/features/workflows/role.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { inputClass, Switch } from '#web/ui/field.tsx'
import { Empty, Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { useDoc, useEditor, useEditorStore } from '../store.ts'
import { mentionedIn, type Named, putName, typedName } from './mentions.ts'

const stale = ['listComments'] as const

/** Comments about the workflow, or about one of its nodes. */
export function CommentsPanel({ workflow }: { workflow: Workflow }) {
  const store = useEditorStore()
  const about = useEditor((state) => state.about)
  const [withDone, setWithDone] = useState(false)
  const comments = useList('listComments', {
    workflow_id: workflow.workflow_id,
    limit: 100,
    ...(about !== null && { node_id: about }),
    ...(!withDone && { resolved: 'false' as const }),
  })
  const nameOf = useNodeNames()
  return (
    <section
      aria-label="Comments"
      className="flex min-h-0 w-80 shrink-0 flex-col border-l border-line bg-surface max-lg:absolute max-lg:inset-y-0 max-lg:right-0 max-lg:z-20 max-lg:max-w-full max-lg:shadow-raised"
    >
      <div className="flex items-center justify-between px-4 pt-3 pb-2">
        <h2 className="text-base font-semibold">Comments</h2>
        <IconButton icon={X} label="Close comments" size="small" onClick={() => store.set({ panel: null })} />
      </div>
      <div className="flex flex-wrap items-center gap-2 px-4 pb-2 text-xs">
        {about !== null && (
          <button type="button" className="text-accent underline" onClick={() => store.set({ about: null })}>
            Show the comments of all nodes
          </button>
        )}
        <Switch label="Include resolved comments" checked={withDone} onCheckedChange={setWithDone} />
      </div>
      <NewComment key={about} workflow={workflow} about={about} aboutName={about === null ? null : nameOf(about)} />
      <div className="min-h-0 flex-1 overflow-y-auto px-4 pb-4">
        <Loaded of={comments} what="the comments">
          {(items) =>
            items.length === 0 ? (
              <Empty title="No comments">Write one above. Type @ to mention a person; they are notified.</Empty>
            ) : (
              <ol className="flex flex-col gap-3">
                {items.map((comment) => (
                  <OneComment
                    key={comment.comment_id}
                    comment={comment}
                    workflow={workflow}
                    nodeName={comment.node_id === null || about !== null ? null : nameOf(comment.node_id)}
                  />
                ))}
              </ol>
            )
          }
        </Loaded>
      </div>
    </section>
  )
}

function useNodeNames(): (id: string) => string {
  const { nodes } = useDoc()
  return (id) => nodes.find((node) => node.id === id)?.name || id
}

/** Returns the people who may see the workflow: only they can be mentioned. */
function useNamable({ owner_id, members }: Workflow): Named[] {
  const { list } = usePeople()
  const seeing = new Set([owner_id, ...members.map(({ user_id }) => user_id)])
  return list.filter(({ user_id }) => seeing.has(user_id))
}

function NewComment({
  workflow,
  about,
  aboutName,
}: {
  workflow: Workflow
  about: string | null
  aboutName: string | null
}) {
  const people = useNamable(workflow)
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState('')
  const [caret, setCaret] = useState(0)
  const create = useChange('createComment', {
    stale: [...stale],
    failed: 'Could not comment',
    onDone: () => setText(''),
  })
  const typed = typedName(text, caret)
  const offered =
    typed === null
      ? []
      : people.filter(({ name }) => name.toLowerCase().startsWith(typed.toLowerCase()) && name !== typed).slice(0, 5)
  const label = aboutName === null ? 'Comment on the workflow' : `Comment on ${aboutName}`
  const send = (): void =>
    create.mutate({
      workflow_id: workflow.workflow_id,
      body: text,
      node_id: about,
      mentions: mentionedIn(text, people),
    })
  return (
    <div className="px-4 pb-3">
      <textarea
        ref={field}
        aria-label={label}
        placeholder={label}
        rows={3}
        maxLength={4_000}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setCaret(event.currentTarget.selectionStart)
        }}
        className={`${inputClass} py-2`}
      />
      {offered.length > 0 && (
        <ul aria-label="People to mention" className="mt-1 rounded-md border border-line bg-raised p-1">
          {offered.map(({ user_id, name }) => (
            <li key={user_id}>
              <button
                type="button"
                className="w-full rounded px-2 py-1 text-left hover:bg-hover"
                onClick={() => {
                  const put = putName(text, caret, name)
                  setText(put.text)
                  setCaret(put.caret)
                  field.current?.focus()
                }}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="mt-2 flex justify-end">
        <Button size="small" look="primary" disabled={text.trim() === ''} pending={create.isPending} onClick={send}>
          Comment
        </Button>
      </div>
    </div>
  )
}

function OneComment({
  comment,
  workflow,
  nodeName,
}: {
  comment: WorkflowComment
  workflow: Workflow
  nodeName: string | null
}) {
  const store = useEditorStore()
  const { userId } = useRole()
  const { nameOf } = usePeople()
  const { workflow_id, comment_id } = comment
  const resolve = useChange('resolveComment', { stale: [...stale], failed: 'Could not change the comment' })
  const remove = useChange('deleteComment', { stale: [...stale], failed: 'Could not delete the comment' })
  const isDone = comment.resolved_at !== null
  const mayDelete = comment.author_id === userId || roleIn(workflow, userId) === 'owner'
  return (
    <li className="rounded-md border border-line p-2.5">
      <div className="flex items-center gap-1 text-xs text-ink-2">
        <span className="min-w-0 truncate font-medium text-ink">{nameOf(comment.author_id)}</span>
        <RelativeTime at={comment.created_at} />
        <span className="ml-auto flex">
          <IconButton
            size="small"
            icon={isDone ? RotateCcw : Check}
            label={isDone ? 'Open again' : 'Mark as done'}
            onClick={() => resolve.mutate({ workflow_id, comment_id, resolved: !isDone })}
          />
          {mayDelete && (
            <IconButton
              size="small"
              icon={Trash2}
              label="Delete the comment"
              onClick={() => remove.mutate({ workflow_id, comment_id })}
            />
          )}
        </span>
      </div>
      {nodeName !== null && (
        <button
          type="button"
          className="text-xs text-accent underline"
          onClick={() => {
            store.select([comment.node_id!])
            store.set({ about: comment.node_id, focus: comment.node_id })
          }}
        >
          {nodeName}
        </button>
      )}
      <p className="mt-1 break-words whitespace-pre-wrap">{comment.body}</p>
    </li>
  )
}
