import { sep } from 'node:path'
import type { Plugin } from 'vite'
import { type Found, shownBetween, textsIn } from './find-texts.ts'

// Passes every text of the console through the catalogue during the build: `Save` between tags becomes `{t("Save")}`.

const IMPORT = `import { t as __t } from '#web/words/language.ts';`

export function translated(file: string, source: string): string {
  const found = textsIn(file, source)
    .filter(({ start }) => start >= 0)
    .sort((a, b) => a.start - b.start || b.end - a.end)
  if (found.length === 0) return source

  /**
   * Returns the source from one position to another, with translated texts; texts inside the values of a text are
   * rendered recursively.
   */
  function render(from: number, to: number): string {
    let result = ''
    let at = from
    for (const one of found) {
      if (one.start < at || one.end > to) continue
      result += source.slice(at, one.start) + call(one)
      at = one.end
    }
    return result + source.slice(at, to)
  }

  function call({ text, form, values, start, end }: Found): string {
    const given = values.map(([first, last]) => render(first, last)).join(', ')
    const called = `__t(${JSON.stringify(text)}${values.length > 0 ? `, [${given}]` : ''})`
    if (form === 'value') return called
    if (form === 'attribute') return `{${called}}`
    const { lead, trail } = shownBetween(source.slice(start, end))
    const space = (spaces: string): string => (spaces === '' ? '' : `{${JSON.stringify(spaces)}}`)
    return `${space(lead)}{${called}}${space(trail)}`
  }

  return `${IMPORT}${render(0, source.length)}`
}

export function consoleTexts(root: string): Plugin {
  return {
    name: 'console-texts',
    enforce: 'pre',
    transform(source, id) {
      const file = id.split('?', 1)[0]!
      if (!file.startsWith(root + sep) || !/\.tsx?$/.test(file)) return undefined
      const path = file.slice(root.length).replaceAll(sep, '/')
      return { code: translated(path, source), map: null }
    },
  }
}
