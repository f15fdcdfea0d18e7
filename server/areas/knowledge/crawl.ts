import { newId } from '#platform/ids'

// Determines the next pages of a crawl: the linked pages of the same host.

const NO_PAGE =
  /\.(?:png|jpe?g|gif|webp|svg|ico|css|js|mjs|json|xml|zip|gz|tar|exe|dmg|mp[34]|webm|woff2?|ttf|docx?|xlsx?|pptx?)$/i

/** Returns the addresses in a Markdown text without their fragments, in order and each once. */
export function linksIn(markdown: string, page: string, most: number): string[] {
  const from = new URL(page)
  const found = new Set<string>()
  for (const [, target = ''] of markdown.matchAll(/\]\(([^()\s]{1,2000})\)/g)) {
    if (found.size >= most) break
    const url = URL.parse(target, page)
    if (url === null || url.origin !== from.origin || NO_PAGE.test(url.pathname)) continue
    url.hash = ''
    if (url.href !== withoutHash(from) && url.href.length <= 2_000) found.add(url.href)
  }
  return [...found]
}

const withoutHash = (url: URL): string => {
  const copy = new URL(url)
  copy.hash = ''
  return copy.href
}

export const asPages = (urls: string[]): { document_id: string; url: string }[] =>
  urls.map((url) => ({ document_id: newId(), url }))
