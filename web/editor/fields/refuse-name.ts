/** Returns the problem with the name of a field, or null. */
export function refuseName(text: string, others: readonly string[]): string | null {
  const name = text.trim()
  if (name === '') return 'A field needs a name.'
  return others.includes(name) ? 'Another field has this name.' : null
}
