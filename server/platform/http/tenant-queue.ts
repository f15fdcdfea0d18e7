// Requests that wait for a place, by tenant. Tenants take turns.

/** `from`: the time before which the request does not begin, on the clock of `performance.now()`. */
type Waits = { from: number }

export function makeTenantQueue<Request extends Waits>() {
  const lines = new Map<string, Request[]>()
  let size = 0

  const isFirstDue = ([first]: Request[], now: number): boolean => first!.from <= now

  return {
    size: () => size,
    lengthOf: (tenant: string): number => lines.get(tenant)?.length ?? 0,
    lengthOfLongest: (): number => Math.max(0, ...[...lines.values()].map(({ length }) => length)),
    add(tenant: string, request: Request): void {
      const line = lines.get(tenant) ?? []
      const before = line.findLastIndex(({ from }) => from <= request.from)
      line.splice(before + 1, 0, request)
      lines.set(tenant, line)
      size += 1
    },
    /**
     * Takes the first request of the first tenant that `mayBegin` and whose request is due. The tenant moves to the end,
     * so that every waiting tenant gets a place before this tenant gets another. The scan is short: only a few of the
     * waiting tenants can have used up their share.
     */
    take(mayBegin: (tenant: string) => boolean): { tenant: string; request: Request } | undefined {
      const now = performance.now()
      for (const [tenant, line] of lines) {
        if (!isFirstDue(line, now) || !mayBegin(tenant)) continue
        const request = line.shift()!
        size -= 1
        lines.delete(tenant)
        if (line.length > 0) lines.set(tenant, line)
        return { tenant, request }
      }
      return undefined
    },
    /** Removes the last request of the longest line. */
    dropLast(): Request {
      const longest = [...lines].reduce((a, b) => (b[1].length > a[1].length ? b : a))
      const [tenant, line] = longest
      const request = line.pop()!
      size -= 1
      if (line.length === 0) lines.delete(tenant)
      return request
    },
  }
}
