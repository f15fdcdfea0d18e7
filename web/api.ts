import {
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  type UseQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Client, type ClientOptions, makeClient } from '#sdk/client'
import type { Operations } from '#sdk/operations.generated'
import { HeddleProblem } from '#sdk/problems'
import { toast } from '#web/ui/toast.tsx'
import { language } from '#web/words/language.ts'

// The console calls the service only through the SDK. A query is named after its operation: useApi('getWorkflow', {
// workflow_id }) has the key ['getWorkflow', { workflow_id }].

export type Name = keyof Operations
export type InputOf<N extends Name> = Operations[N]['input']
export type AnswerOf<N extends Name> = Operations[N]['answer']

/** Sends the language of the page, so that mails caused by a call are in that language. */
const inLanguage: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('accept-language', language)
  return fetch(input, { ...init, headers })
}

const options: ClientOptions = { fetch: inLanguage }

/** Calls in the workspace that this tab shows, even if other tabs have selected another workspace. */
export const api: Client = sameOrigin(makeClient(options))

/** Calls that concern the user and no workspace. */
export const account: Client = makeClient({ fetch: inLanguage })

export const enterWorkspace = (workspaceId: string | null): void => {
  if (workspaceId === null) delete options.workspaceId
  else options.workspaceId = workspaceId
}

/** Opens sockets at the origin of the page, under the host name in the browser. */
function sameOrigin(client: Client): Client {
  const here = <T extends { url: string }>(ticket: T): T => {
    const url = new URL(ticket.url)
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
    url.host = location.host
    return { ...ticket, url: url.href }
  }
  return {
    ...client,
    createWorkflowTicket: async (...given) => here(await client.createWorkflowTicket(...given)),
    createBatchTicket: async (...given) => here(await client.createBatchTicket(...given)),
    createConversationTicket: async (...given) => here(await client.createConversationTicket(...given)),
    createNotificationTicket: async (...given) => here(await client.createNotificationTicket(...given)),
  }
}

type Session = { onEnded(): void }
/** Set by session.tsx: called when the service no longer accepts the session. */
export const session: Session = { onEnded: () => {} }

const ended = (error: unknown): boolean => error instanceof HeddleProblem && error.status === 401

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (ended(error) && query.queryKey[0] !== 'getMe') session.onEnded()
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _input, _context, mutation) => {
      if (mutation.meta?.account) return
      if (ended(error)) session.onEnded()
      else if (mutation.meta?.failed) toast.failed(String(mutation.meta.failed), error)
    },
  }),
  // The SDK retries what may be retried. `always`: a service on this machine is reachable without a network.
  defaultOptions: {
    queries: { retry: false, staleTime: 5_000, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
})

type AnyCall = (input: unknown, call: { signal?: AbortSignal; idempotencyKey?: string }) => Promise<unknown>
/** The only place where the types of an operation are dropped. */
const callOf = (name: Name): AnyCall => api[name] as unknown as AnyCall

export const query = <N extends Name>(name: N, input?: InputOf<N>) =>
  queryOptions<AnswerOf<N>>({
    queryKey: [name, input ?? {}],
    queryFn: ({ signal }) => callOf(name)(input ?? {}, { signal }) as Promise<AnswerOf<N>>,
  })

export const useApi = <N extends Name>(
  name: N,
  input?: InputOf<N>,
  more: Omit<UseQueryOptions<AnswerOf<N>>, 'queryKey' | 'queryFn'> = {},
) => useQuery({ ...query(name, input), ...more })

type Paged = { [N in Name]: AnswerOf<N> extends { items: unknown[]; next_cursor: string | null } ? N : never }[Name]
type ItemOf<N extends Paged> = AnswerOf<N> extends { items: (infer Item)[] } ? Item : never

/**
 * Checks whether two inputs differ only in the search text. While a user types, the previous rows stay: an empty table
 * would jump with each letter.
 */
function differsInSearch(before: unknown, now: unknown): boolean {
  const rest = (input: unknown): string => JSON.stringify({ ...(input as object), q: undefined })
  return before !== undefined && rest(before) === rest(now)
}

const LIVE_EVERY = 2_000

/**
 * Returns the pages of a list fetched so far, and a function to fetch more. The list is fetched again every two seconds
 * while `isLive` is true for one of its items.
 */
export function useList<N extends Paged>(
  name: N,
  input?: Omit<InputOf<N>, 'cursor'>,
  {
    isLive = () => false,
    refetchInterval,
    ...more
  }: {
    enabled?: boolean
    refetchInterval?: number
    staleTime?: number
    isLive?(item: ItemOf<N>): boolean
  } = {},
) {
  const pages = useInfiniteQuery({
    queryKey: [name, input ?? {}, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      callOf(name)({ ...input, ...(pageParam !== null && { cursor: pageParam }) }, { signal }) as Promise<{
        items: ItemOf<N>[]
        next_cursor: string | null
      }>,
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: (shown, before) => (differsInSearch(before?.queryKey[1], input) ? shown : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some(isLive)) ? LIVE_EVERY : refetchInterval,
    ...more,
  })
  const list = JSON.stringify([name, input])
  const [asked, setAsked] = useState({ list, pages: 0 })
  const { isFetching, fetchNextPage } = pages
  const count = pages.data?.pages.length ?? 0
  const hasMore = pages.hasNextPage && !pages.isFetchNextPageError
  const wantsMore = hasMore && asked.list === list && asked.pages > count
  // The request is repeated until the page has arrived: a change event that arrives in the meantime reloads the list,
  // which cancels the request for the next page.
  useEffect(() => {
    if (wantsMore && !isFetching) void fetchNextPage()
  }, [wantsMore, isFetching, fetchNextPage])
  return {
    data: pages.data?.pages.flatMap((page) => page.items),
    error: pages.error,
    isPending: pages.isPending,
    refetch: pages.refetch,
    more: {
      hasMore,
      loading: wantsMore,
      load: () => setAsked({ list, pages: count + 1 }),
    },
  }
}

/** Fetches all pages of a list, for selection fields. */
export function useAll<N extends Paged>(
  name: N,
  input?: Omit<InputOf<N>, 'cursor'>,
  options: { enabled?: boolean; staleTime?: number } = {},
) {
  const { data, error, isPending, refetch, more } = useList(name, input, options)
  useEffect(() => {
    if (more.hasMore && !more.loading) more.load()
  })
  return { data, error, isPending, refetch, complete: data !== undefined && error === null && !more.hasMore }
}

export type ChangeOptions<N extends Name> = {
  /** Operations whose responses are stale after this change. */
  stale?: Name[]
  /** The message shown in a corner after success. */
  done?: string | ((answer: AnswerOf<N>) => string)
  /** The message shown with the reason after a failure; omit it where a form or a dialog shows the reason. */
  failed?: string
  onDone?: (answer: AnswerOf<N>, input: InputOf<N>) => void
}

/** Sends a change, which is applied once even over a bad connection, because every POST carries an idempotency key. */
export function useChange<N extends Name>(name: N, { stale = [], done, failed, onDone }: ChangeOptions<N> = {}) {
  return useMutation<AnswerOf<N>, Error, InputOf<N>>({
    mutationFn: (input) => callOf(name)(input, { idempotencyKey: newKey() }) as Promise<AnswerOf<N>>,
    meta: { failed },
    onSuccess: async (answer, input) => {
      await invalidate(...stale)
      if (done) toast.done(typeof done === 'function' ? done(answer) : done)
      onDone?.(answer, input)
    },
  })
}

export const invalidate = (...names: Name[]): Promise<unknown> =>
  Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })))

/** Creates a random key. `crypto.randomUUID` is missing on plain http, except on localhost. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
