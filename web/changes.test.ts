import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Returns the text from an opening parenthesis to the one that closes it. */
function argumentsAt(source: string, from: number): string {
  let depth = 0
  for (let at = from; at < source.length; at++) {
    if (source[at] === '(') depth++
    if (source[at] === ')' && --depth === 0) return source.slice(from, at)
  }
  return source.slice(from)
}

/** Returns the changes of a file that a button starts and that say nothing if they fail. */
const silentIn = (source: string): string[] =>
  [...source.matchAll(/const (\w+) = useChange\(/g)].flatMap(({ 0: text, 1: name, index }) => {
    const options = argumentsAt(source, index + text.length - 1)
    const isStarted = new RegExp(`\\b${name}\\.mutate\\(|void ${name}\\.mutateAsync\\(`).test(source)
    return isStarted && !/\bfailed\b/.test(options) ? [name!] : []
  })

test('a change without a message for its failure is found if a button starts it', () => {
  expect(silentIn("const a = useChange('x', { done: f() })\na.mutate({})")).toEqual(['a'])
  expect(silentIn("const a = useChange('x', { failed: 'No' })\na.mutate({})")).toEqual([])
  expect(silentIn("const a = useChange('x')\nreturn a.mutateAsync({})")).toEqual([])
})

test('every change that a button starts says if it fails; a form and a confirmation show the reason themselves', () => {
  const silent = globSync('**/*.{ts,tsx}', { cwd: import.meta.dirname })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      silentIn(readFileSync(join(import.meta.dirname, file), 'utf8')).map((name) => `${file}: ${name}`),
    )
  expect(silent).toEqual([])
})
