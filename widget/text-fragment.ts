const MAX_WORDS = 8

/**
 * Returns the address of a page at the first words of a passage, for browsers that support text fragments; other
 * browsers open the page. Searches only for whole words of one line, as they are on the page.
 */
export function withTextFragment(url: string, quote: string | undefined): string {
  const [line = ''] = (quote ?? '').split('\n')
  const words = line.split(/\s+/).filter((word) => word !== '')
  // The last word of a quote may be incomplete.
  const whole = words.slice(0, Math.min(MAX_WORDS, Math.max(words.length - 1, 0)))
  if (whole.length === 0 || url.includes(':~:')) return url
  // A dash has a meaning in the fragment syntax.
  const text = encodeURIComponent(whole.join(' ')).replaceAll('-', '%2D')
  return `${url}${url.includes('#') ? '' : '#'}:~:text=${text}`
}
