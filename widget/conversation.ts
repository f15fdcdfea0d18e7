import { type Api, type FileValue, type Form, type Message, Refused, type Status } from './api.ts'
import { t } from './words.ts'

// What the visitor sees, and how it changes. Both widgets use the same conversation: the chat of a template, and the
// guided collection of a workflow's inputs.

export type View = {
  messages: Message[]
  form: Form | null
  question: Status['question']
  execution: string | null
  /** The execution is running, not waiting for a person. */
  working: boolean
  busy: boolean
  /** The text that the assistant has written so far. */
  draft: string
  connection: 'fine' | 'lost'
  /** The error message for the visitor. */
  problem: string | null
  fieldErrors: Record<string, string>
}

const finished = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])
const POLL_MS = 1500
/**
 * The intervals for checking for new messages: the second applies after a quiet period. While a colleague talks,
 * POLL_MS applies.
 */
const [LOOK_MS, QUIET_MS, QUIET_AFTER] = [5000, 30_000, 10 * 60_000]

let counter = 0
const local = (role: Message['role'], text: string): Message => ({
  message_id: `local-${++counter}`,
  role,
  text,
  created_at: new Date().toISOString(),
})

export function makeConversation(api: Api, onChange: (view: View) => void, onSaid: (text: string) => void) {
  let view: View = {
    messages: [],
    form: null,
    question: null,
    execution: api.kept.get('execution') || null,
    working: false,
    busy: false,
    draft: '',
    connection: 'fine',
    problem: null,
    fieldErrors: {},
  }
  let thread = api.kept.get('thread') || null
  /** The last message that the service has returned. */
  let last: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let looking: ReturnType<typeof setTimeout> | undefined
  let colleague: string | null = null
  let lastNews = Date.now()
  let stopped = false

  const set = (change: Partial<View>): void => {
    view = { ...view, ...change }
    onChange(view)
  }
  const follow = (execution: string | null): void => {
    api.kept.set('execution', execution)
    set({ execution, working: execution !== null })
    clearTimeout(timer)
    if (execution) timer = setTimeout(poll, POLL_MS)
  }
  const add = (...messages: Message[]): void => set({ messages: [...view.messages, ...messages] })
  const say = (text: string): void => {
    add(local('assistant', text))
    onSaid(text)
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    set({ busy: true, problem: null, fieldErrors: {} })
    try {
      await work()
      set({ connection: 'fine' })
    } catch (error) {
      const over = error instanceof Refused && (error.status === 404 || error.code === 'visitor_token_required')
      if (over) {
        // The conversation no longer exists (it belonged to another visitor, expired or was deleted): start a new one.
        if (error.status === 401) api.kept.set('visitor', null)
        thread = last = null
        api.kept.set('thread', null)
        follow(null)
        set({
          form: null,
          question: null,
          problem: t('This conversation has ended. Write a message to start a new one.'),
        })
      } else if (error instanceof Refused) set({ problem: error.message, fieldErrors: error.fields })
      else set({ problem: t('The connection was lost. Try again in a moment.'), connection: 'lost' })
    } finally {
      set({ busy: false, draft: '' })
    }
  }

  /** Polls the status of the execution; questions and results of a chat arrive as messages of its history. */
  async function poll(): Promise<void> {
    const { execution } = view
    if (!execution) return
    try {
      const status = await api.status(execution)
      set({
        connection: 'fine',
        working: status.status !== 'waiting',
        question: api.target.kind === 'workflow' ? status.question : null,
      })
      if (api.target.kind === 'template' && thread) await refresh()
      if (!finished.has(status.status)) {
        timer = setTimeout(poll, POLL_MS)
        return
      }
      if (api.target.kind === 'workflow') say(resultText(status))
      follow(null)
    } catch (error) {
      if (error instanceof Refused && error.status < 500) return follow(null)
      set({ connection: 'lost' })
      timer = setTimeout(poll, POLL_MS * 2)
    }
  }

  /**
   * Checks for messages of colleagues, who can write at any time. Skipped while the page is hidden, or while another
   * request reads the messages.
   */
  function look(): void {
    clearTimeout(looking)
    if (stopped || api.target.kind !== 'template') return
    const quiet = Date.now() - lastNews > QUIET_AFTER
    looking = setTimeout(
      async () => {
        try {
          if (thread && !view.busy && !view.execution && !document.hidden) await refresh()
        } catch {
          // The next message shows the error.
        }
        look()
      },
      colleague ? POLL_MS : quiet ? QUIET_MS : LOOK_MS,
    )
  }

  const unseen = (messages: Message[]): Message[] =>
    messages.filter(({ message_id }) => !view.messages.some((known) => known.message_id === message_id))

  /** Reads the messages since the last one; after a reload, all messages. */
  async function refresh(): Promise<void> {
    const asked = thread
    const { items, form, colleague: talking } = await api.history(asked!, last)
    // A new conversation started in the meantime.
    if (thread !== asked) return
    colleague = talking
    if (items.length > 0) lastNews = Date.now()
    const resumed = last === null
    last = items.at(-1)?.message_id ?? last
    // A local message that was shown when sent, and that the service stored although its response was lost.
    const again = (message: Message): boolean =>
      message.message_id.startsWith('local-') &&
      items.some(({ role, text }) => role === message.role && text === message.text)
    const fresh = unseen(items)
    const told = new Set(items.map(({ message_id }) => message_id))
    const before = view.messages.filter((message) => !again(message) && !told.has(message.message_id))
    set({ messages: [...before, ...items], form: form ?? null })
    if (!resumed) for (const { role, text } of fresh) if (role === 'assistant') onSaid(text)
  }

  const lost = (): void => set({ connection: 'lost' })

  return {
    /** Restores the messages and a running execution after a reload. */
    async resume(greeting: string): Promise<void> {
      if (api.target.kind === 'template' && thread) await attempt(refresh)
      if (view.messages.length === 0) add(local('assistant', greeting))
      look()
      if (view.execution) timer = setTimeout(poll, 0)
      else if (api.target.kind === 'workflow') {
        await attempt(async () => {
          const gathered = await api.gather(thread, null, lost)
          thread = gathered.conversation_id
          say(gathered.reply)
        })
      }
    },

    async send(text: string, file?: File): Promise<void> {
      if (!file) add(local('visitor', text))
      lastNews = Date.now()
      await attempt(async () => {
        const value = file && (await api.upload(file))
        const files = value ? [value.$file.file_id] : []
        // The same text as the service stores, so that the message is not shown twice.
        if (value) add(local('visitor', [text, `File: ${value.$file.name}`].filter(Boolean).join('\n')))
        if (api.target.kind === 'workflow') {
          const gathered = await api.gather(thread, text, lost, files)
          thread = gathered.conversation_id
          say(gathered.reply)
          if (gathered.execution_id) follow(gathered.execution_id)
          return
        }
        const turn = await api.chat(thread, text, lost, files, (draft) => set({ draft, connection: 'fine' }))
        thread = turn.thread_id
        // The poll may have read these messages first. Messages from before this turn are not in its response, so
        // `last` does not change.
        const fresh = unseen(turn.messages)
        set({ draft: '', messages: [...view.messages, ...fresh] })
        for (const { role, text: said } of fresh) if (role === 'assistant') onSaid(said)
        set({ form: turn.form ?? null })
        if (turn.execution_id) follow(turn.execution_id)
      })
    },

    act: (action: 'submit' | 'cancel', values?: Record<string, unknown>) =>
      attempt(async () => {
        const turn = await api.act(thread!, action, view.form!.form_id, values)
        await refresh()
        if (turn.execution_id) follow(turn.execution_id)
      }),

    answer: (response: unknown) =>
      attempt(async () => {
        const { execution, question } = view
        await api.respond(execution!, response, question!.clarification_id)
        add(local('visitor', typeof response === 'string' ? response : JSON.stringify(response)))
        set({ question: null })
        follow(execution)
      }),

    /**
     * Uploads a file for a form and returns it as a value; undefined if it was refused, which is shown to the visitor.
     */
    upload: (file: File) =>
      new Promise<FileValue | undefined>((resolve) => {
        void attempt(async () => resolve(await api.upload(file))).then(() => resolve(undefined))
      }),

    /** Converts speech to an ordinary message. */
    hear: (clip: Blob) =>
      new Promise<string>((resolve) => {
        void attempt(async () => resolve(await api.transcribe(clip))).then(() => resolve(''))
      }),

    async restart(greeting: string): Promise<void> {
      thread = last = null
      api.kept.set('thread', null)
      follow(null)
      set({ messages: [], form: null, question: null, problem: null })
      await this.resume(greeting)
    },

    stop(): void {
      clearTimeout(timer)
      clearTimeout(looking)
      stopped = true
    },
  }
}

/** Shows a file by its name and its address. */
const withAddresses = (_key: string, value: unknown): unknown => {
  const { name, url } = (value as { $file?: { name?: string; url?: string } } | null)?.$file ?? {}
  return url === undefined ? value : `${name}: ${url}`
}

function resultText(status: Status): string {
  if (status.status === 'succeeded') {
    if (status.results === null || status.results === undefined) return t('Done.')
    return typeof status.results === 'string' ? status.results : JSON.stringify(status.results, withAddresses, 2)
  }
  return status.error ? `${t('It could not be completed:')} ${status.error.message}` : t('It was stopped.')
}
