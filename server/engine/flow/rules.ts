// Rules of a workflow that decide when its executions start. All rules are optional.

export type KeyExpression = { $cel: string }

export type Concurrency = {
  /** Executions with the same key share the limit. Without a key, all executions of the workflow share it. */
  key?: KeyExpression | undefined
  limit: number
  /** `running`: a waiting execution gives its place back. `live`: an execution keeps its place until it ends. */
  count?: 'running' | 'live' | undefined
  when_full?: 'queue' | 'skip' | 'cancel_oldest' | undefined
}

/** The settings of a workflow that apply to its starts. */
export type FlowSettings = {
  max_concurrency?: number | undefined
  concurrency?: Concurrency | undefined
  debounce?: { key?: KeyExpression | undefined; window_s: number } | undefined
  rate?: { limit: number; per_s: number; key?: KeyExpression | undefined } | undefined
  dedupe?: { key: KeyExpression; window_s: number } | undefined
  paused_at?: string | undefined
}

/** The rules that a start carries. Null if the workflow has none. */
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
