let longest = Number.POSITIVE_INFINITY

/** How long periodic work pauses before it looks again for what is due and for what no hint told it of. */
export const untilNextLook = (ms: number): number => Math.min(ms, longest)

/** Tests make things due in the tables, where no hint follows. They shorten every pause of the process. */
export const shortenLooks = (ms: number): void => {
  longest = ms
}
