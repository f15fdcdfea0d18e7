// Rules of a workflow that decide when an execution of it begins. All of them are optional.

export type KeyExpression = { $cel: string }

export type Concurrency = {
  /** Executions with the same key share the limit; without one all of the workflow do. */
  key?: KeyExpression | undefined
  limit: number
  /** `running`: one that waits for something gives its place back. `live`: it keeps it to its end. */
  count?: 'running' | 'live' | undefined
  when_full?: 'queue' | 'skip' | 'cancel_oldest' | undefined
}

/** The part of a workflow's settings that concerns its starts. */
export type FlowSettings = {
  max_concurrency?: number | undefined
  concurrency?: Concurrency | undefined
  debounce?: { key?: KeyExpression | undefined; window_s: number } | undefined
  rate?: { limit: number; per_s: number; key?: KeyExpression | undefined } | undefined
  dedupe?: { key: KeyExpression; window_s: number } | undefined
  paused_at?: string | undefined
}

/** What a start carries of them; null where its workflow has none. */
export type Flow = Pick<FlowSettings, 'concurrency' | 'debounce' | 'rate' | 'dedupe'> & { paused?: boolean }

export function flowOf(settings: FlowSettings): Flow | null {
  const { max_concurrency, concurrency, debounce, rate, dedupe, paused_at } = settings
  const limit = concurrency ?? (max_concurrency === undefined ? undefined : { limit: max_concurrency })
  if (!limit && !debounce && !rate && !dedupe && paused_at === undefined) return null
  return {
    ...(limit && { concurrency: limit }),
    ...(debounce && { debounce }),
    ...(rate && { rate }),
    ...(dedupe && { dedupe }),
    ...(paused_at !== undefined && { paused: true }),
  }
}
