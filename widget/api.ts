import { type Draft, followAnswer } from '../sdk/streams.ts'
import { t } from './words.ts'

// The embed API for a visitor of another site. The visitor's token and the conversation are stored in the browser, so
// that the conversation continues after a reload.

export type Target = { kind: 'template' | 'workflow'; id: string }
export type Options = { base: string; token: string; target: Target }

export type Message = {
  message_id: string
  role: 'assistant' | 'visitor' | 'system'
  /** The colleague who wrote the message in place of the assistant. */
  author?: string
  text: string
  citations?: { n: number; title: string; url: string | null; heading: string[]; quote?: string }[]
  created_at: string
}
export type History = { items: Message[]; colleague: string | null; form?: Form }
export type Form = { form_id: string; title: string; schema: Schema; values: Record<string, unknown> }
export type Schema = {
  type?: string | string[]
  title?: string
  description?: string
  format?: string
  enum?: unknown[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}
export type FileValue = { $file: { file_id: string; name: string } }
export type Config = {
  name: string
  greeting: string
  theme: Record<string, unknown>
  features: { speech: boolean; transcribe: boolean }
  /** Whether an offered workflow accepts files. */
  takes_files?: boolean
  voice: string | null
  suggestions: string[]
  visitor_token: string
}
export type Turn = {
  thread_id: string
  messages: Message[]
  form?: Form
  execution_id?: string
  visitor_token?: string
}
export type Status = {
  execution_id: string
  status: string
  results: unknown
  error: { message: string } | null
  question: { clarification_id: string; question: string; schema: Schema } | null
}
export type Gathered = {
  conversation_id: string
  reply: string
  missing: string[]
  complete: boolean
  execution_id?: string
  visitor_token?: string
}

const wordsFor = (status: number, code = ''): string | undefined => {
  if (code === 'origin_refused') return t('This chat is not allowed on this page.')
  if (status === 401) return t('This chat is not available any more.')
  if (status === 429) return t('Too many messages. Try again in a moment.')
  return status >= 500 ? t('Something went wrong. Try again in a moment.') : undefined
}

/** An error of the service, with the errors of a form by field. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly fields: Record<string, string>

  constructor(status: number, body: { code?: string; detail?: string; errors?: { path: string; message: string }[] }) {
    super(wordsFor(status, body.code) ?? body.detail ?? t('The service did not answer as expected.'))
    // An error in the token or the origin concerns the author of the page.
    if (status === 401 || status === 403) console.warn(`heddle: ${body.detail ?? body.code}`)
    this.status = status
    this.code = body.code ?? ''
    this.fields = Object.fromEntries(
      (body.errors ?? []).map(({ path, message }) => [path.split('/').at(-1) ?? '', message]),
    )
  }
}

/** Storage can be forbidden (private windows, sandboxed frames); the widget then keeps its data for one page view. */
function storage(key: string) {
  const memory = new Map<string, string>()
  return {
    get(name: string): string | null {
      try {
        return localStorage.getItem(`${key}:${name}`)
      } catch {
        return memory.get(name) ?? null
      }
    },
    set(name: string, value: string | null): void {
      memory.set(name, value ?? '')
      try {
        if (value === null) localStorage.removeItem(`${key}:${name}`)
        else localStorage.setItem(`${key}:${name}`, value)
      } catch {
        // The value stays in memory.
      }
    },
  }
}

/** Returns the language of the visitor, if it has a format that the service accepts. */
const spoken = (): { locale?: string } => {
  const locale = navigator.language
  return /^[A-Za-z0-9-]{2,35}$/.test(locale) ? { locale } : {}
}

/** Returns the page and the language of the visitor. */
const whereabouts = () => ({
  page: { url: location.href.slice(0, 2000), title: document.title.slice(0, 300) },
  ...spoken(),
})

const RETRIES = 4
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function makeApi({ base, token, target }: Options) {
  const kept = storage(`heddle:${target.id}`)
  const root = `${base.replace(/\/+$/, '')}/api/embed/${target.kind}/${encodeURIComponent(target.id)}`
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

  /**
   * Sends a request. Retries after a lost connection, a rate limit or a server error; an idempotency key prevents
   * duplicate messages.
   */
  async function send(path: string, init: RequestInit & { key?: string } = {}, onLost?: () => void): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      let response: Response | undefined
      try {
        const headers = new Headers(init.headers)
        headers.set('authorization', `Bearer ${token}`)
        const visitor = kept.get('visitor')
        if (visitor) headers.set('x-visitor-token', visitor)
        if (init.key) headers.set('idempotency-key', init.key)
        response = await fetch(root + path, { ...init, headers, credentials: 'omit' })
        if (response.ok) return response
      } catch (error) {
        if (attempt >= RETRIES) throw error
      }
      if (response && response.status !== 429 && response.status < 500)
        throw new Refused(response.status, await response.json().catch(() => ({})))
      if (response && attempt >= RETRIES) throw new Refused(response.status, await response.json().catch(() => ({})))
      onLost?.()
      const wait = Number(response?.headers.get('retry-after')) * 1000 || 400 * 2 ** attempt
      await sleep(Math.min(wait, 10_000))
    }
  }

  const json = (body: unknown, key?: string): RequestInit & { key?: string } => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(key !== undefined && { key }),
  })
  async function follow(
    request: RequestInit & { key?: string },
    onLost: () => void,
    onText: (text: string) => void,
  ): Promise<Turn> {
    const draft: Draft = { text: '', last: null }
    for (let attempt = 0; ; attempt++) {
      const headers = new Headers(request.headers)
      headers.set('accept', 'text/event-stream')
      if (draft.last) headers.set('last-event-id', draft.last)
      const { body } = await send('/chat', { ...request, headers }, onLost)
      const failed = (problem: unknown): never => {
        throw new Refused((problem as { status?: number }).status ?? 500, problem as object)
      }
      const ended = await followAnswer<Turn>(body!, draft, { onText, failed })
      if (ended) return ended.answer
      if (attempt >= RETRIES) throw new TypeError('the connection was lost')
      onLost()
      await sleep(400 * 2 ** attempt)
    }
  }
  const remember = (visitor: string | undefined): void => {
    if (visitor) kept.set('visitor', visitor)
  }
  const newKey = (): string => crypto.randomUUID?.() ?? String(Math.random()).slice(2)

  return {
    target,
    kept,
    origin: new URL(base, location.href).origin,
    async config(): Promise<Config> {
      // The texts of a workflow are as its author wrote them.
      const { locale } = target.kind === 'template' ? spoken() : {}
      const config = (await (await send(`/config${locale ? `?locale=${locale}` : ''}`)).json()) as Config
      remember(config.visitor_token)
      return config
    },
    /** Uploads a file and returns it as a value: for a form, or by its id for a message. */
    upload: async (file: File): Promise<FileValue> =>
      (
        await send(`/files?name=${encodeURIComponent(file.name.slice(0, 255) || 'file')}`, {
          method: 'POST',
          headers: { 'content-type': file.type || 'application/octet-stream' },
          body: file,
        })
      ).json() as Promise<FileValue>,
    /** `onText` receives the answer while it is being written; an interrupted connection is resumed. */
    async chat(
      thread_id: string | null,
      message: string,
      onLost: () => void,
      files: string[],
      onText: (text: string) => void,
    ): Promise<Turn> {
      const body = {
        ...(thread_id && { thread_id }),
        message,
        ...(files.length > 0 && { files }),
        time_zone: timeZone,
        ...whereabouts(),
      }
      const turn = await follow(json(body, newKey()), onLost, onText)
      remember(turn.visitor_token)
      kept.set('thread', turn.thread_id)
      return turn
    },
    act: async (
      thread_id: string,
      action: 'submit' | 'cancel',
      form_id: string,
      values?: Record<string, unknown>,
    ): Promise<Turn> =>
      (
        await send(`/thread/${thread_id}/action`, json({ action, form_id, ...(values && { values }) }, newKey()))
      ).json() as Promise<Turn>,
    /** Returns all messages after a message; from the start if none is given. */
    async history(thread_id: string, after: string | null): Promise<History> {
      const items: Message[] = []
      for (;;) {
        const last = items.at(-1)?.message_id ?? after
        const query = `limit=200${last ? `&after=${encodeURIComponent(last)}` : ''}`
        const answer = await send(`/thread/${thread_id}/history?${query}`)
        const page = (await answer.json()) as History & { next_cursor: string | null }
        items.push(...page.items)
        if (page.next_cursor === null) return { ...page, items }
      }
    },
    status: async (execution: string): Promise<Status> =>
      (
        await send(target.kind === 'template' ? `/execution/${execution}/status` : `/executions/${execution}`)
      ).json() as Promise<Status>,
    respond: async (execution: string, response: unknown, clarification_id: string): Promise<void> =>
      void (await send(`/executions/${execution}/respond`, json({ response, clarification_id }, newKey()))),
    async gather(
      conversation_id: string | null,
      message: string | null,
      onLost: () => void,
      files: string[] = [],
    ): Promise<Gathered> {
      const body = {
        ...(conversation_id && { conversation_id }),
        ...(message !== null && message !== '' && { message }),
        ...(files.length > 0 && { files }),
        time_zone: timeZone,
        ...spoken(),
      }
      const gathered = (await (await send('/gather', json(body, newKey()), onLost)).json()) as Gathered
      remember(gathered.visitor_token)
      kept.set('thread', gathered.conversation_id)
      return gathered
    },
    speech: async (text: string): Promise<Blob> => (await send('/speech', json({ text: text.slice(0, 4096) }))).blob(),
    transcribe: async (clip: Blob): Promise<string> =>
      (
        (await (
          await send('/transcribe', {
            method: 'POST',
            headers: { 'content-type': clip.type || 'audio/webm' },
            body: clip,
          })
        ).json()) as { text: string }
      ).text,
  }
}

export type Api = ReturnType<typeof makeApi>
