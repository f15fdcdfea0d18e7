/** As the styles have it (`max-lg`): the panels lie over the canvas instead of beside it. */
export const isNarrow = (): boolean => window.matchMedia('(width < 64rem)').matches
