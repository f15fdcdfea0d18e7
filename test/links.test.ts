import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

// Checks that every link between the documents leads to a file and a heading that exist.

const root = join(import.meta.dirname, '..')
const documents = globSync(['*.md', '.github/**/*.md', 'docs/**/*.md', 'web/*.md'], { cwd: root })

const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )

function brokenLinks(document: string): string[] {
  const text = readFileSync(join(root, document), 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, '')
  const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
  return links.flatMap(([link, path, anchor]) => {
    const target = path === '' ? document : join(dirname(document), path!)
    if (!existsSync(join(root, target))) return [link]
    if (anchor === undefined) return []
    return anchorsOf(readFileSync(join(root, target), 'utf8')).includes(anchor) ? [] : [link]
  })
}

test.each(documents)('%s has no broken links', (document) => expect(brokenLinks(document)).toEqual([]))

const others = documents.filter((document) => document !== 'CHANGELOG.md')
test.each(others)('%s has no heading twice, so that each can be linked', (document) => {
  const anchors = anchorsOf(readFileSync(join(root, document), 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, ''))
  expect(anchors.filter((anchor, at) => anchors.indexOf(anchor) !== at)).toEqual([])
})

test('a link to a heading that does not exist is found', () => {
  expect(anchorsOf('## Who a run acts for\n### `code`, and more')).toEqual(['who-a-run-acts-for', 'code-and-more'])
})
