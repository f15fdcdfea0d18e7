import { Link } from '@tanstack/react-router'
import { Bot, Check, CircleSlash, type LucideIcon, UserRound, X } from 'lucide-react'
import { useState } from 'react'
import type { Approval, ApprovalVote } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { usePeople } from '#web/people.tsx'
import { useRole } from '#web/session.tsx'
import { Badge, StatusBadge, type Tone } from '#web/ui/badge.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, inputClass, Select } from '#web/ui/field.tsx'
import { JsonView } from '#web/ui/json-view.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { EditArguments } from './edit-arguments.tsx'
import { Payload } from './payload.tsx'
import { quorumInWords } from './policy-words.ts'

const decisions: Record<ApprovalVote['decision'], { label: string; tone: Tone; icon: LucideIcon }> = {
  approve: { label: 'approves', tone: 'success', icon: Check },
  reject: { label: 'rejects', tone: 'danger', icon: X },
  abstain: { label: 'abstains', tone: 'neutral', icon: CircleSlash },
}

/** A gate: the exact payload, who has voted and why, and the user's own vote. */
export function Gate({ gate, compact = false, commentId }: { gate: Approval; compact?: boolean; commentId?: string }) {
  // A user who only votes may not see the execution.
  const run = useApi('getExecution', { execution_id: gate.execution_id }, { enabled: !compact })
  return (
    <div className="flex flex-col gap-5">
      <header>
        <div className="flex flex-wrap items-center gap-2">
          <h2 className="text-base font-semibold">{gate.title}</h2>
          {gate.node_path !== gate.node_id && <p className="text-xs text-ink-2">at {gate.node_path}</p>}
          <StatusBadge status={gate.status} />
        </div>
        <p className="mt-0.5 text-ink-2">
          Opened <RelativeTime at={gate.opened_at} />
          {gate.due_at && (
            <>
              , due <RelativeTime at={gate.due_at} />
            </>
          )}
          {gate.resolved_at && (
            <>
              , closed <RelativeTime at={gate.resolved_at} />
            </>
          )}
          . {quorumInWords(gate.policy)}
          {run.data && !compact && (
            <>
              {' '}
              <Link to={`/runs/${gate.execution_id}`} className="text-accent underline">
                See the run
              </Link>
            </>
          )}
        </p>
        {gate.edited_by && <p className="mt-2">{gate.edited_by.name} edited the arguments.</p>}
        {gate.edit_comment && <p className="mt-1 break-words whitespace-pre-wrap text-ink-2">{gate.edit_comment}</p>}
        {gate.replaced_by && (
          <p className="mt-2">
            The arguments were edited.{' '}
            <Link to={`/approvals/${gate.replaced_by}`} className="text-accent underline">
              See the edited call
            </Link>
          </p>
        )}
        {gate.unsatisfiable && gate.status === 'open' && (
          <p className="mt-2 rounded-md bg-danger-soft px-3 py-2 text-danger">
            No one is left who can approve this. The owner must cancel the run or change the approvers.
          </p>
        )}
      </header>
      <section aria-label="Content under review">
        <h3 className="mb-1 font-medium">Content under review</h3>
        <Payload value={gate.payload} />
        <p className="mt-1 text-xs text-ink-3">
          Your vote applies to exactly this content{' '}
          <code className="font-mono">{gate.payload_sha256.slice(0, 12)}</code>
        </p>
      </section>
      <Votes gate={gate} />
      <Vote key={gate.request_id} gate={gate} commentId={commentId ?? `comment-${gate.request_id}`} />
    </div>
  )
}

function Votes({ gate }: { gate: Approval }) {
  const waiting = gate.outstanding
  return (
    <section aria-label="Votes">
      <h3 className="mb-1 font-medium">Votes</h3>
      {gate.votes.length === 0 && <p className="text-ink-2">No votes yet.</p>}
      <ul className="flex flex-col gap-2">
        {gate.votes.map((vote) => (
          <VoteRow key={vote.vote_id} vote={vote} gate={gate} />
        ))}
      </ul>
      {gate.status === 'open' && waiting.length > 0 && (
        <p className="mt-2 text-ink-2">Still to vote: {waiting.map(({ name }) => name).join(', ')}.</p>
      )}
      {gate.excluded.length > 0 && (
        <p className="mt-2 text-ink-2">
          May not vote: {gate.excluded.map(({ name, reason }) => `${name} (${translateMessage(reason)})`).join(', ')}.
        </p>
      )}
    </section>
  )
}

function VoteRow({ vote, gate }: { vote: ApprovalVote; gate: Approval }) {
  const { label, tone, icon: Icon } = decisions[vote.decision]
  const Who = vote.voter.kind === 'agent' ? Bot : UserRound
  const record = gate.agents.find(({ agent }) => agent === vote.voter.id)
  return (
    <li className="rounded-md border border-line px-3 py-2">
      <p className="flex flex-wrap items-center gap-2">
        <Who aria-label={vote.voter.kind === 'agent' ? 'Agent' : 'Person'} className="size-4 text-ink-3" />
        <span className="font-medium">{vote.voter.name}</span>
        <Badge tone={tone}>
          <Icon aria-hidden className="size-3" />
          {label}
        </Badge>
        {vote.confidence !== null && (
          <span className="text-ink-2">{Math.round(vote.confidence * 100)} % confident</span>
        )}
        <span className="ml-auto text-xs text-ink-3">
          <RelativeTime at={vote.voted_at} />
        </span>
      </p>
      {record && record.votes > 0 && (
        <p className="mt-1 text-xs text-ink-2">
          Agreed with the outcome of {record.agreed} of {record.votes} earlier requests (
          {Math.round((record.agreed / record.votes) * 100)} %).
        </p>
      )}
      {vote.comment && <p className="mt-1 break-words whitespace-pre-wrap">{vote.comment}</p>}
      {vote.rationale && <p className="mt-1 break-words whitespace-pre-wrap text-ink-2">{vote.rationale}</p>}
      {vote.evidence !== undefined && vote.evidence !== null && (
        <details className="mt-1">
          <summary className="text-xs text-accent">Evidence</summary>
          <JsonView value={vote.evidence} label="Evidence" className="mt-1" />
        </details>
      )}
    </li>
  )
}

export const waitsFor = (gate: Approval, userId: string): boolean =>
  gate.status === 'open' && gate.outstanding.some(({ kind, id }) => kind === 'human' && id === userId)

const useCastVote = () =>
  useChange('castVote', {
    stale: ['listInbox', 'getApproval', 'listExecutionApprovals', 'getExecution'],
    done: 'Your vote is recorded',
    failed: 'Could not record your vote',
  })

function Vote({ gate, commentId }: { gate: Approval; commentId: string }) {
  const { userId } = useRole()
  const [comment, setComment] = useState('')
  const [delegating, setDelegating] = useState(false)
  const [editing, setEditing] = useState(false)
  const cast = useCastVote()
  const mine = gate.votes.find(({ voter }) => voter.id === userId)
  if (mine) return <p className="text-ink-2">You have voted. A vote cannot be changed.</p>
  if (gate.status !== 'open') return null
  if (!waitsFor(gate, userId)) {
    return <p className="text-ink-2">You can view this approval but not vote on it.</p>
  }
  const vote = (decision: ApprovalVote['decision']): void =>
    cast.mutate({
      request_id: gate.request_id,
      decision,
      payload_sha256: gate.payload_sha256,
      ...(comment.trim() && { comment: comment.trim() }),
    })
  return (
    <section
      aria-label="Your vote"
      className="sticky bottom-0 -mx-4 -mb-4 flex flex-col gap-3 rounded-b-lg border-t border-line bg-surface p-4"
    >
      <label htmlFor={commentId} className="flex flex-col gap-1 font-medium">
        Comment
        <textarea
          id={commentId}
          rows={1}
          value={comment}
          onChange={(event) => setComment(event.target.value)}
          placeholder="Optional. Explain your decision."
          className={`${inputClass} py-2 font-normal`}
        />
      </label>
      <div className="flex flex-wrap items-center gap-2">
        <Button
          look="primary"
          icon={Check}
          pending={cast.isPending}
          onClick={() => vote('approve')}
          data-vote="approve"
        >
          Approve
        </Button>
        <Button look="danger" icon={X} disabled={cast.isPending} onClick={() => vote('reject')} data-vote="reject">
          Reject
        </Button>
        <Button look="quiet" disabled={cast.isPending} onClick={() => vote('abstain')}>
          Abstain
        </Button>
        <span className="ml-auto flex flex-wrap gap-2">
          {gate.editable && (
            <Button look="quiet" onClick={() => setEditing(true)}>
              Edit arguments…
            </Button>
          )}
          <Button look="quiet" onClick={() => setDelegating(true)}>
            Delegate…
          </Button>
        </span>
      </div>
      {editing && <EditArguments gate={gate} comment={comment.trim()} onClose={() => setEditing(false)} />}
      {delegating && <Delegate gate={gate} onClose={() => setDelegating(false)} />}
    </section>
  )
}

function Delegate({ gate, onClose }: { gate: Approval; onClose(): void }) {
  const { list } = usePeople()
  const { userId } = useRole()
  const delegate = useChange('delegateVote', {
    stale: ['listInbox', 'getApproval', 'listExecutionApprovals'],
    done: 'Delegated',
  })
  const others = list.filter(({ user_id, role }) => user_id !== userId && role !== 'guest')
  return (
    <Dialog
      open
      onClose={onClose}
      title="Delegate your vote"
      description="The colleague votes in your place. You can no longer vote on this approval."
    >
      <Form<{ user_id: string }>
        submit="Delegate"
        onCancel={onClose}
        onSubmit={async ({ user_id }) => {
          await delegate.mutateAsync({ request_id: gate.request_id, user_id })
          onClose()
        }}
      >
        <Field name="user_id" label="Colleague">
          <Select
            required
            options={[
              { value: '', label: 'Choose' },
              ...others.map(({ user_id, name }) => ({ value: user_id, label: name })),
            ]}
          />
        </Field>
      </Form>
    </Dialog>
  )
}
