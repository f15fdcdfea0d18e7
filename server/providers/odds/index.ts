// Betting odds of one league day (the wire shape of contract §4, so that rows travel without a mapping).

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
  /** Why it cannot be used in this installation, or null. */
  unavailable(): string | null
  /** Throws a Problem: `provider_not_configured`, `provider_unavailable` or `invalid`. */
  fetch(query: OddsQuery, signal?: AbortSignal): Promise<OddsAnswer>
}

export const REGIONS = ['us', 'us2', 'us_dfs', 'us_ex', 'uk', 'eu', 'fr', 'se', 'au'] as const
export const MARKETS = ['h2h', 'spreads', 'totals', 'outrights', 'h2h_lay', 'outrights_lay'] as const
export const DEFAULT_REGIONS = ['us']
export const DEFAULT_MARKETS = ['h2h']
