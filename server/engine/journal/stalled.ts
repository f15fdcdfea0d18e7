/** Returns the milliseconds since the oldest of these times, or 0 if there are none. */
export function sinceOldest(times: Iterable<number>): number {
  const now = performance.now()
  let longest = 0
  for (const at of times) longest = Math.max(longest, now - at)
  return longest
}
