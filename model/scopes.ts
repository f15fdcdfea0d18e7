// What a scoped API key may do: an area and a verb, such as `workflows:read` or `*:run`. Shared with the console.

/** The areas of the route tables, by the name that stands over each of them. A new table is added here. */
export const scopeAreas = {
  Alerts: 'alerts',
  Approvals: 'approvals',
  Budgets: 'budgets',
  'Chat threads': 'threads',
  Companies: 'companies',
  Connections: 'connections',
  Credentials: 'credentials',
  Datasets: 'datasets',
  'Embed by template': 'embed',
  'Embed by workflow': 'embed',
  'Enrichment jobs': 'jobs',
  'Event destinations': 'event-destinations',
  Events: 'events',
  Executions: 'executions',
  Files: 'files',
  Gateway: 'channels',
  Identity: 'identity',
  Insights: 'insights',
  Knowledge: 'knowledge',
  MCP: 'mcp',
  Notifications: 'notifications',
  Operations: 'operations',
  Payments: 'payments',
  Presence: 'presence',
  Replays: 'replays',
  'Service accounts': 'service-accounts',
  Services: 'services',
  Subscriptions: 'subscriptions',
  Suites: 'suites',
  Teams: 'teams',
  Templates: 'templates',
  Variables: 'variables',
  Webhooks: 'webhooks',
  Workflows: 'workflows',
  Workspaces: 'workspaces',
} as const

export type AreaName = keyof typeof scopeAreas
export type ScopeArea = (typeof scopeAreas)[AreaName]

export const scopeVerbs = ['read', 'run', 'write', 'admin'] as const
export type ScopeVerb = (typeof scopeVerbs)[number]
export type Scope = `${ScopeArea}:${ScopeVerb}`

/** `embed` is called with embed tokens alone, which have no scopes. */
export const areasOfScopes: readonly ScopeArea[] = [...new Set(Object.values(scopeAreas))].filter(
  (area) => area !== 'embed',
)

/** What each verb allows: `write` includes reading, `admin` includes everything in its area. */
const includes: Record<ScopeVerb, readonly ScopeVerb[]> = {
  read: ['read'],
  run: ['run'],
  write: ['read', 'write'],
  admin: scopeVerbs,
}

/** Every text that a key may be given. */
export const allScopes: readonly string[] = ['*', ...areasOfScopes].flatMap((area) =>
  scopeVerbs.map((verb) => `${area}:${verb}`),
)

/** Whether a key with these scopes may do what needs `wanted`; `*:verb` is wanted only of keys for other keys. */
export const grants = (scopes: readonly string[], wanted: string): boolean => {
  const [area, verb] = wanted.split(':') as [string, ScopeVerb]
  return scopes.some((scope) => {
    const [ofArea, ofVerb, ...more] = scope.split(':') as [string, ScopeVerb]
    return more.length === 0 && (ofArea === '*' || ofArea === area) && (includes[ofVerb] ?? []).includes(verb)
  })
}

/** Those of `wanted` that `held` does not cover: a key makes no key that may do more than itself. */
export const beyond = (held: readonly string[], wanted: readonly string[]): string[] =>
  wanted.filter((scope) => !grants(held, scope))
