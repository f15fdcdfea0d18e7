// The service keeps the newest run of a suite at hand; which others there were is remembered by this browser.

const KEPT = 20
const keyOf = (suiteId: string): string => `heddle.suite.${suiteId}`

export function seenRuns(suiteId: string): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(suiteId)) ?? '[]')
    return Array.isArray(kept) ? kept.filter((id): id is string => typeof id === 'string') : []
  } catch {
    return []
  }
}

export function rememberRun(suiteId: string, runId: string): void {
  const runs = [runId, ...seenRuns(suiteId).filter((id) => id !== runId)].slice(0, KEPT)
  localStorage.setItem(keyOf(suiteId), JSON.stringify(runs))
}
