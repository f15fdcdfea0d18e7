// The target of each figure, in one run on two cores. `limit` names the figure to compare with: of the plain program,
// or of an empty or idle system. `ratio` names the figure that a benchmark computes for both over interleaved rounds;
// without `ratio`, the table divides the two.

export type Target = { figure: string; limit?: string; ratio?: string } & (
  | { least: number }
  | { most: number }
  | { leastRatio: number }
  | { mostRatio: number }
)

export const targets: Record<string, Target[]> = {
  start: [
    { figure: 'second_ms', most: 800 },
    { figure: 'npm_start_ms', limit: 'second_ms', most: 800 },
    { figure: 'second_rss_mb', most: 160 },
    { figure: 'second_database_mb', most: 120 },
  ],
  installed: [{ figure: 'cold_ms', most: 3_000 }],
  engine: [
    { figure: 'engine_runs_s', limit: 'plain_runs_s', ratio: 'ratio', leastRatio: 0.75 },
    { figure: 'idle_p50_ms', most: 3 },
    { figure: 'idle_p99_ms', most: 8 },
    { figure: 'disk_bytes', most: 1500 },
    { figure: 'wal_bytes', most: 2500 },
    { figure: 'pure.engine_runs_s', limit: 'plain_runs_s', ratio: 'pure.ratio', leastRatio: 0.75 },
  ],
  trigger: [
    { figure: 'trigger_runs_s', limit: 'plain_runs_s', ratio: 'ratio', leastRatio: 0.5 },
    { figure: 'pure.trigger_runs_s', limit: 'plain_runs_s', ratio: 'pure.ratio', leastRatio: 0.5 },
  ],
  http: [
    { figure: 'one.service_per_s', limit: 'one.bare_per_s', ratio: 'one.ratio', leastRatio: 0.8 },
    { figure: 'list.service_per_s', limit: 'list.bare_per_s', ratio: 'list.ratio', leastRatio: 0.8 },
  ],
  services: [
    { figure: 'added.p50_ms', most: 2 },
    { figure: 'added.p99_ms', most: 2 },
  ],
  signal: [
    { figure: 'same_process.p50_ms', most: 5 },
    { figure: 'same_process.p99_ms', most: 25 },
    { figure: 'two_processes.p50_ms', limit: 'same_process.p50_ms', most: 5 },
    { figure: 'two_processes.p99_ms', limit: 'same_process.p99_ms', most: 25 },
  ],
  flow: [
    { figure: 'full.decide_ms', limit: 'empty.decide_ms', ratio: 'decide_ratio', leastRatio: 0.5 },
    { figure: 'full.claim_ms', limit: 'empty.claim_ms', ratio: 'claim_ratio', leastRatio: 0.5 },
    { figure: 'under_way.places_s', least: 300 },
  ],
  loop: [
    { figure: 'computed.turns_per_s', least: 2_000 },
    { figure: 'computed.turns_per_s', limit: 'computed.items_per_s', ratio: 'computed.map_ratio', leastRatio: 0.5 },
    { figure: 'run.turns_per_s', limit: 'run.items_per_s', ratio: 'run.map_ratio', leastRatio: 0.5 },
    { figure: 'heap_grown_mb', most: 32 },
  ],
  waiting: [
    { figure: 'none.event_to_resumed.p50_ms', most: 5 },
    { figure: 'many.event_to_resumed.p50_ms', limit: 'none.event_to_resumed.p50_ms', most: 5 },
    { figure: 'waiting_costs.cpu_ms_s', most: 3 },
    { figure: 'waiting_costs.transactions_s', most: 1 },
  ],
  files: [{ figure: 'growth_mb', most: 64 }],
  history: [
    { figure: 'full.engine_ratio', limit: 'empty.engine_ratio', ratio: 'history_ratio', leastRatio: 0.8 },
    { figure: 'full.cpu_ms', limit: 'empty.cpu_ms', ratio: 'cpu_ratio', leastRatio: 0.8 },
    { figure: 'full.idle_transactions_s', limit: 'empty.idle_transactions_s', most: 3 },
  ],
  index: [{ figure: 'with_us', limit: 'without_us', ratio: 'cpu_ratio', leastRatio: 0.95 }],
  import: [
    { figure: 'import_mb_s', limit: 'csv_parse_alone_mb_s', ratio: 'ratio', leastRatio: 0.3 },
    { figure: 'memory_import_mb', limit: 'memory_before_mb', most: 512 },
  ],
  jobs: [
    { figure: 'records_s', limit: 'bare_runs_s', ratio: 'ratio', leastRatio: 0.6 },
    { figure: 'records_s', least: 1_000 },
    { figure: 'peak_rss_mb', most: 512 },
  ],
  seeing: [
    { figure: 'search_p95_ms', most: 50 },
    { figure: 'insights_p95_ms', most: 100 },
  ],
  overload: [
    { figure: 'insistent.accepted_per_s', limit: 'carried_per_s', ratio: 'insistent.kept_ratio', leastRatio: 0.9 },
    { figure: 'insistent.health_max_ms', most: 50 },
    { figure: 'obedient.accepted_per_s', limit: 'carried_per_s', ratio: 'obedient.kept_ratio', leastRatio: 0.8 },
    { figure: 'obedient.health_max_ms', most: 50 },
    { figure: 'neighbour.limits_on.beside_flood_p50_ms', limit: 'neighbour.limits_on.alone_p50_ms', mostRatio: 2 },
    { figure: 'neighbour.limits_on.beside_flood_p99_ms', limit: 'neighbour.limits_on.alone_p99_ms', mostRatio: 2 },
  ],
}
