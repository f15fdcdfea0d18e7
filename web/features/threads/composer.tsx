import { FileText, Mic, SendHorizontal, Square, X } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { api, newKey } from '#web/api.ts'
import { Button, IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { inputClass } from '#web/ui/field.tsx'
import { useNow } from '#web/ui/time.tsx'
import { formatDuration } from '#web/ui/time-words.ts'
import { toast } from '#web/ui/toast.tsx'
import { spokenLanguage } from '#web/words/language.ts'
import { useRecorder } from './recorder.ts'

const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** Writes or speaks into the thread. Text that could not be sent stays in the box. */
export function Composer({
  threadId,
  onSaid,
  onDraft,
  textOnly = false,
  tools,
}: {
  threadId: string
  onSaid(): Promise<unknown>
  /** Called with the answer of the assistant while it is being written; with null once it is complete. */
  onDraft(text: string | null): void
  /** Visitors and channels get no recordings. */
  textOnly?: boolean
  tools?: ((insert: (text: string) => void) => ReactNode) | undefined
}) {
  const [text, setText] = useState('')
  const [pending, setPending] = useState<'sending' | 'hearing' | null>(null)
  const { recording, start, stop, discard } = useRecorder((why) => toast.failed(why))
  const clip = recording.state === 'done' ? recording.clip : null

  const send = async (): Promise<void> => {
    if (text.trim() === '' && !clip) return
    setPending('sending')
    try {
      await api.stream(
        'postThreadMessage',
        { thread_id: threadId, body: bodyOf(text.trim(), clip) },
        { idempotencyKey: newKey(), onText: onDraft },
      )
      setText('')
      discard()
      await onSaid()
    } catch (error) {
      toast.failed('Could not send the message', error)
    } finally {
      onDraft(null)
      setPending(null)
    }
  }
  const transcribe = async (): Promise<void> => {
    setPending('hearing')
    try {
      const transcript = await api.transcribeInThread({ thread_id: threadId, body: clip })
      setText(text === '' ? transcript.text : `${text} ${transcript.text}`)
      discard()
    } catch (error) {
      toast.failed('Could not transcribe the recording', error)
    } finally {
      setPending(null)
    }
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void send()
  }
  return (
    <form
      className={cx(
        'sticky bottom-0 flex flex-col gap-2 border-t border-line py-3',
        // In the inbox the box is on a card.
        tools ? 'bg-surface' : 'bg-canvas',
      )}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {recording.state === 'done' && (
        <div className="flex flex-wrap items-center gap-2">
          {/* biome-ignore lint/a11y/useMediaCaption: it was just spoken by the listener */}
          <audio controls src={recording.url} className="h-9 max-w-full" aria-label="Your recording" />
          <Button size="small" icon={FileText} pending={pending === 'hearing'} onClick={() => void transcribe()}>
            Transcribe
          </Button>
          <IconButton size="small" icon={X} label="Discard the recording" onClick={discard} />
        </div>
      )}
      {tools?.((added) => setText(text.trim() === '' ? added : `${text.trimEnd()}\n${added}`))}
      <div className="flex items-end gap-2">
        <label className="min-w-0 flex-1">
          <span className="sr-only">Message</span>
          <textarea
            rows={2}
            value={text}
            maxLength={8000}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKey}
            placeholder={clip ? 'Add text, or send the recording as it is' : 'Write a message'}
            className={`${inputClass} py-2`}
          />
        </label>
        {textOnly ? null : recording.state === 'recording' ? (
          <Button icon={Square} onClick={stop}>
            Stop <Elapsed since={recording.since} />
          </Button>
        ) : (
          <IconButton icon={Mic} label="Record a voice message" onClick={() => void start()} />
        )}
        <Button
          type="submit"
          look="primary"
          icon={SendHorizontal}
          pending={pending === 'sending'}
          disabled={text.trim() === '' && !clip}
        >
          Send
        </Button>
      </div>
      <p className="text-xs text-ink-3 max-sm:hidden">Enter sends. Shift+Enter starts a new line.</p>
    </form>
  )
}

const Elapsed = ({ since }: { since: number }) => (
  <span className="tabular-nums">{formatDuration(Math.max(0, useNow(true) - since))}</span>
)

function bodyOf(text: string, clip: Blob | null): unknown {
  if (!clip) return { text, time_zone: timeZone(), locale: spokenLanguage() }
  const body = new FormData()
  if (text !== '') body.set('text', text)
  body.set('time_zone', timeZone())
  body.set('locale', spokenLanguage())
  body.set('audio', clip, `voice.${clip.type.includes('ogg') ? 'ogg' : 'webm'}`)
  return body
}
