const MAX_WORDS = 8

/**
 * The address of a page at the words that a passage begins with, for browsers that know text fragments; others open the page. Only whole
 * words of one line are looked for, as they stand on the page.
 */
export function placeIn(url: string, quote: string | undefined): string {
  const [line = ''] = (quote ?? '').split('\n')
  const words = line.split(/\s+/).filter((word) => word !== '')
  // The last word of a quote may be cut off.
  const whole = words.slice(0, Math.min(MAX_WORDS, Math.max(words.length - 1, 0)))
  if (whole.length === 0 || url.includes(':~:')) return url
  // A dash is a sign of the fragment itself.
  const text = encodeURIComponent(whole.join(' ')).replaceAll('-', '%2D')
  return `${url}${url.includes('#') ? '' : '#'}:~:text=${text}`
}
