// What each figure should be, in one run on two cores. `least`: more is better; `most`: less is better. `limit` names the figure of
// the plain program or of the empty system that the figure is held against.

export type Target = { figure: string; limit?: string } & ({ least: number } | { most: number })

export const targets: Record<string, Target[]> = {
  engine: [
    { figure: 'ratio', limit: 'plain_runs_s', least: 0.75 },
    { figure: 'idle_p50_ms', most: 3 },
    { figure: 'idle_p99_ms', most: 8 },
    { figure: 'disk_bytes', most: 1500 },
    { figure: 'wal_bytes', most: 2500 },
  ],
  trigger: [{ figure: 'ratio', limit: 'plain_runs_s', least: 0.5 }],
  http: [
    { figure: 'one.ratio', limit: 'one.bare_per_s', least: 0.8 },
    { figure: 'list.ratio', limit: 'list.bare_per_s', least: 0.8 },
  ],
  services: [
    { figure: 'added.p50_ms', most: 2 },
    { figure: 'added.p99_ms', most: 2 },
  ],
  flow: [
    { figure: 'decide_ratio', limit: 'empty.decide_ms', least: 0.5 },
    { figure: 'claim_ratio', limit: 'empty.claim_ms', least: 0.5 },
    { figure: 'under_way.places_s', least: 300 },
  ],
  loop: [
    { figure: 'computed.turns_per_s', limit: 'computed.items_per_s', least: 2_000 },
    { figure: 'computed.map_ratio', least: 0.5 },
    { figure: 'run.map_ratio', least: 0.5 },
    { figure: 'heap_grown_mb', most: 32 },
  ],
  waiting: [
    { figure: 'none.event_to_resumed.p50_ms', most: 5 },
    { figure: 'many.event_to_resumed.p50_ms', limit: 'none.event_to_resumed.p50_ms', most: 5 },
    { figure: 'waiting_costs.cpu_ms_s', most: 3 },
    { figure: 'waiting_costs.transactions_s', most: 1 },
  ],
  start: [
    { figure: 'second_ms', limit: 'first_ms', most: 800 },
    { figure: 'second_rss_mb', most: 160 },
  ],
  index: [{ figure: 'cpu_ratio', limit: 'without_us', least: 0.95 }],
  seeing: [
    { figure: 'search_p95_ms', most: 50 },
    { figure: 'insights_p95_ms', most: 100 },
  ],
  files: [{ figure: 'growth_mb', limit: 'memory_before_mb', most: 64 }],
  overload: [
    { figure: 'insistent.kept_ratio', least: 0.9 },
    { figure: 'obedient.kept_ratio', least: 0.8 },
    { figure: 'neighbour.limits_on.beside_flood_p99_ms', limit: 'neighbour.limits_on.alone_p99_ms', most: 14 },
  ],
}
