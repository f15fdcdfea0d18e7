import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { piecesOf } from '#model/addresses'
import type { Api, Config, Message } from './api.ts'
import { makeConversation, type View } from './conversation.ts'
import { AnswerForm, SchemaForm } from './form.tsx'
import { Icon } from './icons.tsx'
import { makeSpeaker, useMicrophone } from './speech.ts'
import { withTextFragment } from './text-fragment.ts'
import { t } from './words.ts'

type Props = { api: Api; config: Config; onClose?(): void }

const empty: View = {
  messages: [],
  form: null,
  question: null,
  execution: null,
  working: false,
  busy: false,
  draft: '',
  connection: 'fine',
  problem: null,
  fieldErrors: {},
}

/** The sources of an answer: a web page opens at the passage; for any other document the passage itself is shown. */
const Sources = ({ citations }: { citations: NonNullable<Message['citations']> }) => (
  <ul class="sources">
    {citations.map(({ n, title, url, heading, quote }) => {
      const place = heading.length > 0 ? ` (${heading.at(-1)})` : ''
      if (url && /^https?:/.test(url))
        return (
          <li key={n}>
            [{n}]{' '}
            <a href={withTextFragment(url, quote)} target="_blank" rel="noopener noreferrer">
              {title}
            </a>
            {place}
          </li>
        )
      return (
        <li key={n}>
          {quote ? (
            <details>
              <summary>
                [{n}] {title}
                {place}
              </summary>
              <q>{quote}</q>
            </details>
          ) : (
            `[${n}] ${title}${place}`
          )}
        </li>
      )
    })}
  </ul>
)

/** The text of a message. A visitor's text is shown unchanged. */
const Said = ({ message: { role, text }, origin }: { message: Message; origin: string }) => (
  <>
    {role === 'visitor'
      ? text
      : piecesOf(text, origin).map((piece) =>
          piece.url === undefined ? (
            piece.text
          ) : (
            <a key={piece.url} href={piece.url} target="_blank" rel="noopener noreferrer">
              {piece.text}
            </a>
          ),
        )}
  </>
)

export function Chat({ api, config, onClose }: Props) {
  const [view, setView] = useState(empty)
  const [text, setText] = useState('')
  const [spoken, setSpoken] = useState(false)
  const [notice, setNotice] = useState<string | null>(null)
  const log = useRef<HTMLDivElement>(null)
  const compose = useRef<HTMLTextAreaElement>(null)
  const attachment = useRef<HTMLInputElement>(null)
  const speaker = useMemo(() => makeSpeaker(api.speech), [api])
  const conversation = useMemo(() => makeConversation(api, setView, speaker.say), [api, speaker])
  const canSpeak = config.features.speech && api.target.kind === 'template'
  const canHear = config.features.transcribe && api.target.kind === 'template'
  const microphone = useMicrophone(async (clip) => {
    const heard = await conversation.hear(clip)
    if (heard) setText(heard)
    compose.current?.focus()
  }, setNotice)

  useEffect(() => {
    void conversation.resume(config.greeting)
    return conversation.stop
  }, [conversation, config.greeting])
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is added at the end is scrolled to
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [view.messages.length, view.draft, view.form, view.question])
  useEffect(() => speaker.set(spoken), [speaker, spoken])
  useEffect(() => {
    if (onClose) compose.current?.focus()
  }, [onClose])

  const send = (said: string): void => {
    const trimmed = said.trim()
    if (trimmed === '' || view.busy) return
    setText('')
    setNotice(null)
    void conversation.send(trimmed)
    compose.current?.focus()
  }

  const problem = notice ?? view.problem
  return (
    <section
      class="panel"
      aria-label={config.name}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose?.()
      }}
    >
      <header>
        <h2>{config.name}</h2>
        {canSpeak ? (
          <button
            type="button"
            aria-pressed={spoken}
            aria-label={t('Speak answers aloud')}
            title={t('Speak answers aloud')}
            onClick={() => setSpoken(!spoken)}
          >
            <Icon name={spoken ? 'loud' : 'quiet'} />
          </button>
        ) : null}
        <button
          type="button"
          aria-label={t('Start a new conversation')}
          title={t('Start a new conversation')}
          onClick={() => void conversation.restart(config.greeting)}
        >
          <Icon name="restart" />
        </button>
        {onClose ? (
          <button type="button" aria-label={t('Close the chat')} title={t('Close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        ) : null}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div class="log" ref={log} role="log" aria-live="polite" aria-label={t('Conversation')} tabIndex={0}>
        {view.messages.map((message) => (
          <div class={`message ${message.role}`} key={message.message_id}>
            {message.author ? (
              <span class="author">{message.author}</span>
            ) : (
              <span class="sr">
                {message.role === 'visitor' ? `${t('You')}: ` : message.role === 'assistant' ? `${config.name}: ` : ''}
              </span>
            )}
            <Said message={message} origin={api.origin} />
            {message.citations ? <Sources citations={message.citations} /> : null}
          </div>
        ))}
        {view.draft !== '' ? (
          // Screen readers read the message once it is complete.
          <div class="message assistant" aria-hidden="true">
            {view.draft}
          </div>
        ) : view.busy ? (
          <div class="message dots">
            <span class="sr">{t('Thinking')}</span>
          </div>
        ) : null}
      </div>
      {view.working && !view.busy && !view.form && !view.question ? (
        <p class="note" role="status">
          <span class="dots">{t('Working on it')}</span>
        </p>
      ) : null}
      {view.connection === 'lost' && view.busy ? (
        <p class="note" role="status">
          {t('The connection was lost; trying again…')}
        </p>
      ) : null}
      {problem ? (
        <p class="note bad" role="alert">
          {problem}
        </p>
      ) : null}
      {view.form ? (
        <SchemaForm
          key={view.form.form_id}
          title={view.form.title}
          schema={view.form.schema}
          values={view.form.values}
          errors={view.fieldErrors}
          busy={view.busy}
          onFile={conversation.upload}
          onSubmit={(values) => void conversation.act('submit', values)}
          onCancel={() => void conversation.act('cancel')}
        />
      ) : null}
      {view.question ? (
        <AnswerForm
          key={view.question.clarification_id}
          question={view.question.question}
          schema={view.question.schema}
          errors={view.fieldErrors}
          busy={view.busy}
          onFile={conversation.upload}
          onAnswer={(response) => void conversation.answer(response)}
        />
      ) : null}
      {view.messages.length <= 1 && config.suggestions.length > 0 ? (
        <div class="suggestions">
          {config.suggestions.map((suggestion) => (
            <button type="button" key={suggestion} onClick={() => send(suggestion)}>
              {suggestion}
            </button>
          ))}
        </div>
      ) : null}
      <form
        class="compose"
        onSubmit={(event) => {
          event.preventDefault()
          send(text)
        }}
      >
        <label class="sr" for="say">
          {t('Your message')}
        </label>
        <textarea
          id="say"
          ref={compose}
          rows={1}
          maxLength={8000}
          placeholder={t('Write a message')}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            send(text)
          }}
        />
        {config.takes_files ? (
          <>
            <input
              ref={attachment}
              type="file"
              class="sr"
              tabIndex={-1}
              aria-label={t('File to send')}
              onChange={(event) => {
                const [file] = event.currentTarget.files ?? []
                event.currentTarget.value = ''
                if (!file) return
                void conversation.send(text.trim(), file)
                setText('')
              }}
            />
            <button
              type="button"
              aria-label={t('Send a file')}
              title={t('Send a file')}
              disabled={view.busy}
              onClick={() => attachment.current?.click()}
            >
              <Icon name="attach" />
            </button>
          </>
        ) : null}
        {canHear && microphone.available ? (
          <button
            type="button"
            class={microphone.recording ? 'recording' : ''}
            aria-pressed={microphone.recording}
            aria-label={microphone.recording ? t('Stop recording') : t('Record a voice message')}
            onClick={() => void microphone.toggle()}
          >
            <Icon name={microphone.recording ? 'stop' : 'microphone'} />
          </button>
        ) : null}
        <button type="submit" class="primary" disabled={view.busy || text.trim() === ''}>
          {t('Send')}
        </button>
      </form>
    </section>
  )
}
