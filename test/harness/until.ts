/** A look is mostly a request. One every 15 ms took a third of a core while a test waited. */
const PAUSES = { first: 10, growth: 1.5, longest: 100 }

/** Looks again and again until the condition gives something; fails after `within` milliseconds. */
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
