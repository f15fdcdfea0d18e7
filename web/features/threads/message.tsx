import { Link } from '@tanstack/react-router'
import { Play, Volume2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { piecesOf } from '#model/addresses'
import type { ThreadMessage } from '#sdk/types.generated'
import { api } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button, IconButton } from '#web/ui/button.tsx'
import { cx } from '#web/ui/cx.ts'
import { RelativeTime } from '#web/ui/time.tsx'
import { toast } from '#web/ui/toast.tsx'
import { t } from '#web/words/language.ts'

const MAX_SPOKEN = 4096

export function Message({ message, threadId }: { message: ThreadMessage; threadId: string }) {
  const { userId } = useRole()
  const own = message.author?.user_id === userId
  const name =
    message.role === 'assistant'
      ? t('Assistant')
      : message.role === 'system'
        ? 'Heddle'
        : own
          ? t('You')
          : (message.author?.name ?? t('Visitor'))
  if (message.role === 'system') return <li className="text-center text-ink-2">{message.text}</li>
  return (
    <li className={cx('flex max-w-[85%] flex-col gap-1', own ? 'self-end items-end' : 'self-start items-start')}>
      <span className="text-xs text-ink-2">
        {name} · <RelativeTime at={message.created_at} />
      </span>
      <div
        className={cx(
          'rounded-lg px-3 py-2',
          own ? 'bg-accent-soft' : message.role === 'assistant' ? 'border border-line bg-surface' : 'bg-sunken',
        )}
      >
        {message.text !== '' && (
          <p className="whitespace-pre-wrap">
            <Said text={message.text} />
          </p>
        )}
        {message.citations && <Sources citations={message.citations} />}
        {message.audio_id && <Clip threadId={threadId} audioId={message.audio_id} />}
      </div>
      <span className="flex items-center gap-2">
        {message.execution_id && (
          <Link to={`/runs/${message.execution_id}`} className="text-xs text-accent hover:underline">
            View run
          </Link>
        )}
        {message.role === 'assistant' && message.text !== '' && <ReadAloud threadId={threadId} text={message.text} />}
      </span>
    </li>
  )
}

/** The sources of an answer; each opens its document at the passage. */
const Sources = ({ citations }: { citations: NonNullable<ThreadMessage['citations']> }) => (
  <ul aria-label="Sources" className="mt-2 flex flex-col gap-0.5 text-xs text-ink-2">
    {citations.map(({ n, knowledge_id, document_id, title, heading, from, to }) => (
      <li key={n}>
        [{n}]{' '}
        <Link
          to={`/knowledge/${knowledge_id}/documents/${document_id}`}
          search={{ from, to }}
          className="text-accent hover:underline"
        >
          {title}
        </Link>
        {heading.length > 0 && ` › ${heading.join(' › ')}`}
      </li>
    ))}
  </ul>
)

const Said = ({ text }: { text: string }) =>
  piecesOf(text, location.origin).map(({ text: shown, url }, at) =>
    url === undefined ? (
      shown
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change their places
      <a key={at} href={url} target="_blank" rel="noopener noreferrer" className="text-accent hover:underline">
        {shown}
      </a>
    ),
  )

/** A recording, fetched on request: its address is valid for five minutes. */
function Clip({ threadId, audioId }: { threadId: string; audioId: string }) {
  const [source, setSource] = useState<string | null>(null)
  const fetchSource = async (): Promise<void> => {
    try {
      const { url } = await api.getThreadAudio({ thread_id: threadId, audio_id: audioId })
      // Uses the host name of this page, which may differ from the service's own name.
      const { pathname, search } = new URL(url, location.href)
      setSource(pathname + search)
    } catch (error) {
      toast.failed('Could not play the recording', error)
    }
  }
  if (source === null) {
    return (
      <Button size="small" icon={Play} className="mt-1" onClick={() => void fetchSource()}>
        Play
      </Button>
    )
  }
  return (
    // biome-ignore lint/a11y/useMediaCaption: what is said stands above it where it was transcribed
    <audio
      controls
      autoPlay
      src={source}
      onError={() => setSource(null)}
      className="mt-1 max-w-full"
      aria-label="Voice message"
    />
  )
}

function ReadAloud({ threadId, text }: { threadId: string; text: string }) {
  const [source, setSource] = useState<string | null>(null)
  useEffect(() => () => void (source && URL.revokeObjectURL(source)), [source])
  const speak = async (): Promise<void> => {
    try {
      const audio = await api.speakInThread({ thread_id: threadId, text: text.slice(0, MAX_SPOKEN), format: 'mp3' })
      setSource(URL.createObjectURL(audio))
    } catch (error) {
      toast.failed('Could not read the message aloud', error)
    }
  }
  return source ? (
    // biome-ignore lint/a11y/useMediaCaption: it reads the text above
    <audio controls autoPlay src={source} className="h-8 max-w-full" aria-label="Message audio" />
  ) : (
    <IconButton size="small" icon={Volume2} label="Read aloud" onClick={() => void speak()} />
  )
}
