/** Checks for a narrow screen, as `max-lg` in the styles: the panels are over the canvas instead of beside it. */
export const isNarrow = (): boolean => window.matchMedia('(width < 64rem)').matches
