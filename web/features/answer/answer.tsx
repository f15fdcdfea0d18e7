import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Check, CircleSlash, X } from 'lucide-react'
import { useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import type { Interaction, InteractionAnswer } from '#sdk/types.generated'
import { account, useApi, useChange } from '#web/api.ts'
import { Mark } from '#web/shell/workspace-switcher.tsx'
import { Button } from '#web/ui/button.tsx'
import { Field, Form, Input, inputClass } from '#web/ui/field.tsx'
import { messageOf } from '#web/ui/messages.ts'
import { useTitle } from '#web/ui/page.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Loaded } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { translateMessage } from '#web/words/messages.ts'
import { Payload } from '../approvals/payload.tsx'

// The page that the link of a mail or message opens, for people who are not signed in. Opening the page decides
// nothing: mail scanners open links too.

type Answer = Omit<InteractionAnswer, 'payload_sha256' | 'code'>

export function AnswerPage() {
  const { token } = useParams({ strict: false }) as { token: string }
  useTitle('Your answer')
  const asked = useApi('getInteraction', { interaction: token }, { retry: false })
  return (
    <main className="mx-auto w-full max-w-2xl px-4 py-8">
      <div className="mb-6 flex items-center gap-2.5">
        <Mark className="size-8" />
        <span className="text-lg font-semibold tracking-tight">Heddle</span>
      </div>
      <Loaded of={asked} what="the request">
        {(interaction) => <Asked interaction={interaction} token={token} onChanged={() => void asked.refetch()} />}
      </Loaded>
    </main>
  )
}

type Parts = { interaction: Interaction; token: string; onChanged(): void }

function Asked({ interaction, token, onChanged }: Parts) {
  const [done, setDone] = useState<Interaction>()
  const shown = done ?? interaction
  return (
    <div className="flex flex-col gap-5">
      <header>
        <p className="text-ink-2">
          {shown.workspace} asks {shown.person.name}
        </p>
        <h1 className="text-xl font-semibold tracking-tight break-words">{shown.title}</h1>
        {shown.due_at && shown.status === 'open' && (
          <p className="text-ink-2">
            Due <RelativeTime at={shown.due_at} />
          </p>
        )}
      </header>
      {shown.kind === 'approval' && (
        <section aria-label="Content under review">
          <Payload value={shown.payload} />
          <p className="mt-1 text-xs break-all text-ink-3">
            Your vote applies to exactly this content, sha256 <code className="font-mono">{shown.payload_sha256}</code>
          </p>
        </section>
      )}
      <State interaction={shown} />
      {shown.status === 'open' && shown.own_answer === null && shown.refusal === null && (
        <Ask interaction={shown} token={token} onAnswered={setDone} onChanged={onChanged} />
      )}
    </div>
  )
}

const decided: Record<string, string> = {
  approve: 'You have approved this.',
  reject: 'You have rejected this.',
  abstain: 'You have abstained.',
}

/** The message if nothing can be answered, and who answered. */
function State({ interaction: { status, outcome, own_answer, refusal } }: { interaction: Interaction }) {
  const text =
    status !== 'open'
      ? `${translateMessage(outcome ?? '')}.`
      : own_answer === null
        ? refusal && translateMessage(refusal)
        : `${decided[own_answer]} Others still have to vote.`
  if (text === null) return null
  return (
    <p role="status" className="rounded-md border border-line bg-surface px-4 py-3 font-medium">
      {text}
    </p>
  )
}

function Ask({ interaction, token, onAnswered, onChanged }: Parts & { onAnswered(now: Interaction): void }) {
  const [pending, setPending] = useState<Answer>()
  const sendCode = useChange('sendInteractionCode', {
    done: 'A new code is on its way. Earlier codes no longer work.',
    failed: 'Could not send a new code',
  })
  if (interaction.proof === 'sign_in')
    return (
      <p>
        This workspace asks for a second factor.{' '}
        <Link to="/" className="text-accent underline">
          Sign in
        </Link>{' '}
        to answer.
      </p>
    )
  const send = async (answer: Answer, code?: string): Promise<void> => {
    try {
      const now = await account.answerInteraction({
        interaction: token,
        ...answer,
        payload_sha256: interaction.payload_sha256,
        ...(code !== undefined && { code }),
      } as never)
      onAnswered(now)
    } catch (error) {
      if (error instanceof HeddleProblem && error.code === 'proof_required') {
        await account.sendInteractionCode({ interaction: token })
        setPending(answer)
        return
      }
      if (error instanceof HeddleProblem && error.status === 409) onChanged()
      throw error
    }
  }
  if (pending !== undefined)
    return (
      <Form<{ code: string }>
        submit="Confirm"
        onSubmit={({ code }) => send(pending, code)}
        aside={
          <Button look="quiet" pending={sendCode.isPending} onClick={() => sendCode.mutate({ interaction: token })}>
            Send a new code
          </Button>
        }
      >
        <p>
          We have sent a code to {interaction.person.reached_at}. The code proves that you are {interaction.person.name}
          ; this browser is then known for 30 days.
        </p>
        <Field name="code" label="Code">
          <Input required autoFocus inputMode="numeric" autoComplete="one-time-code" />
        </Field>
      </Form>
    )
  if (interaction.kind === 'clarification')
    return (
      <SchemaForm schema={interaction.schema} submit="Answer" onSubmit={(response) => send({ response } as Answer)} />
    )
  return <Vote onVote={send} />
}

const choices = [
  { decision: 'approve', label: 'Approve', icon: Check },
  { decision: 'reject', label: 'Reject', icon: X },
  { decision: 'abstain', label: 'Abstain', icon: CircleSlash },
] as const

function Vote({ onVote }: { onVote(answer: Answer): Promise<void> }) {
  const wanted = (useSearch({ strict: false }) as { decision?: string }).decision
  const [comment, setComment] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const vote = async (decision: (typeof choices)[number]['decision']): Promise<void> => {
    setBusy(true)
    try {
      await onVote({ decision, ...(comment.trim() !== '' && { comment }) } as Answer)
    } catch (error) {
      setFailure(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section aria-label="Your vote" className="flex flex-col gap-3">
      <label className="flex flex-col gap-1">
        <span className="font-medium">Comment (optional)</span>
        <textarea
          className={`${inputClass} py-2`}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          rows={3}
        />
      </label>
      <div className="flex flex-wrap gap-2">
        {choices.map(({ decision, label, icon }) => (
          <Button
            key={decision}
            icon={icon}
            disabled={busy}
            look={decision === (wanted ?? 'approve') ? 'primary' : 'secondary'}
            onClick={() => void vote(decision)}
          >
            {label}
          </Button>
        ))}
      </div>
      {failure && (
        <p role="alert" className="text-danger">
          {failure}
        </p>
      )}
    </section>
  )
}
