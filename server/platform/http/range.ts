/** Parses a single range. For several ranges, or for an invalid one, the whole content is returned. */
export function partOf(range: string, size: number): { from: number; to: number } | 'whole' | 'none' {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim()) ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole'
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return 'whole'
  return from > to || from >= size ? 'none' : { from, to }
}
