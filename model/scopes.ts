// The permissions of a scoped API key: an area and a verb, such as `workflows:read` or `*:run`. Shared with the
// console.

/** The areas of the route tables, by the heading of each table. Add a new table here. */
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

/** `embed` is called only with embed tokens, which have no scopes. */
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

/** All scopes that a key may have. */
export const allScopes: readonly string[] = ['*', ...areasOfScopes].flatMap((area) =>
  scopeVerbs.map((verb) => `${area}:${verb}`),
)

/**
 * Checks whether a key with these scopes has the permission `wanted`; `*:verb` is requested only when a key creates
 * another key.
 */
export const grants = (scopes: readonly string[], wanted: string): boolean => {
  const [area, verb] = wanted.split(':') as [string, ScopeVerb]
  return scopes.some((scope) => {
    const [ofArea, ofVerb, ...more] = scope.split(':') as [string, ScopeVerb]
    return more.length === 0 && (ofArea === '*' || ofArea === area) && (includes[ofVerb] ?? []).includes(verb)
  })
}

/**
 * Returns the scopes of `wanted` that `held` does not cover: a key cannot create a key with more permissions than its
 * own.
 */
export const uncoveredScopes = (held: readonly string[], wanted: readonly string[]): string[] =>
  wanted.filter((scope) => !grants(held, scope))
