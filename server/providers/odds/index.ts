// Betting odds of one league day, in the wire format of contract §4, so that rows need no mapping.

export type OddsQuery = { date: string; regions?: string[] | undefined; markets?: string[] | undefined }

export type OddsOutcome = { name: string; price: number; point?: number }
export type OddsMarket = { market: string; outcomes: OddsOutcome[] }
export type OddsGame = {
  game_id: string
  home: string
  away: string
  starts_at: string
  bookmakers: { name: string; markets: OddsMarket[] }[]
}
export type OddsAnswer = { date: string; games: OddsGame[]; provider: string; fetched_at: string }

export type Odds = {
  /** Returns the reason why this installation cannot use the provider, or null. */
  unavailable(): string | null
  /** Throws a Problem: `provider_not_configured`, `provider_unavailable` or `invalid`. */
  fetch(query: OddsQuery, signal?: AbortSignal): Promise<OddsAnswer>
}

export const REGIONS = ['us', 'us2', 'us_dfs', 'us_ex', 'uk', 'eu', 'fr', 'se', 'au'] as const
export const MARKETS = ['h2h', 'spreads', 'totals', 'outrights', 'h2h_lay', 'outrights_lay'] as const
export const DEFAULT_REGIONS = ['us']
export const DEFAULT_MARKETS = ['h2h']
