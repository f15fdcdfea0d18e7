import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { features } from './registry.ts'

// A notice links to a page of the console. A link to a missing page would show "Page not found" to a person who was
// asked for something.

const server = join(import.meta.dirname, '../../server')
const pages = features
  .flatMap((feature) => feature.pages.map(({ path }) => path))
  .map((path) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+')}$`))

/** Returns the addresses in a source, with `x` for interpolated values. */
const linksIn = (source: string): string[] =>
  source
    .split('\n')
    .filter((line) => /\b(link|LINK)(:| =) /.test(line))
    .flatMap((line) => [...line.replaceAll(/\$\{[^}]*\}/g, 'x').matchAll(/[`'](\/[a-z][^`'\s?]*)/g)])
    .map(([, link]) => link!)

const leadsNowhere = (link: string): boolean => !pages.some((page) => page.test(link))

test('every link of a notice leads to a page of the console', () => {
  const links = globSync('{areas,providers,engine}/**/*.ts', { cwd: server })
    .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('routes.ts'))
    .flatMap((file) => linksIn(readFileSync(join(server, file), 'utf8')).map((link) => `${link} (${file})`))
  expect(links.length).toBeGreaterThan(10)
  expect(links.filter((link) => leadsNowhere(link.split(' ')[0]!))).toEqual([])
})

test('a link to a missing page is found', () => {
  expect(linksIn("const LINK = '/settings/billing'").filter(leadsNowhere)).toEqual(['/settings/billing'])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a program
  expect(linksIn("link: `/runs/${toWire('exe', id)}`,").filter(leadsNowhere)).toEqual([])
})
