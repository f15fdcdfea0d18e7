/**
 * The pauses between two checks, in milliseconds. A check is usually a request; one every 15 ms took a third of a core.
 */
const PAUSES = { first: 10, growth: 1.5, longest: 100 }

/** Repeats `look` until it returns a value; fails after `within` milliseconds. */
export async function until<T>(
  look: () => Promise<T | undefined | false | null>,
  what: string,
  within = 60_000,
): Promise<T> {
  const end = performance.now() + within
  for (let pause = PAUSES.first; ; pause = Math.min(pause * PAUSES.growth, PAUSES.longest)) {
    const found = await look()
    if (found !== undefined && found !== false && found !== null) return found
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
