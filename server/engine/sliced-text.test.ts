import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readInSlices, writeInSlices } from './sliced-text.ts'

const write = async (value: unknown, check: (part: string, written: number) => void = () => {}) => {
  let slices = 1
  const text = await writeInSlices(
    value,
    async () => {
      slices += 1
    },
    check,
  )
  return { text, slices }
}

const large = (letter: string): string => letter.repeat(400_000)

test('a small value is written in one slice', async () => {
  expect(await write({ a: [1, 'x', null] })).toEqual({ text: '{"a":[1,"x",null]}', slices: 1 })
  expect(await write(undefined)).toEqual({ text: 'null', slices: 1 })
})

test('a large value is written in several slices, and the text equals JSON.stringify', async () => {
  for (const [value, slices] of [
    [{ a: large('a'), b: [large('b'), { 'c"': large('c'), left: undefined }], d: undefined }, 3],
    [[large('a'), undefined, 7, large('b')], 2],
    [[[], {}, ...Array.from({ length: 40_000 }, (_, n) => ({ n, text: 'y'.repeat(20) }))], 4],
    [large('"'), 1],
  ] as const) {
    const written = await write(value)
    expect(written.text).toBe(JSON.stringify(value))
    expect(written.slices).toBe(slices)
  }
})

test('any value next to a large one is written as JSON.stringify does', async () => {
  const beside = { large: [large('a'), large('b')] }
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const both = { ...beside, value, list: [value, value] }
      expect((await write(both)).text).toBe(JSON.stringify(both))
    }),
    { numRuns: 30 },
  )
})

const readBack = async (text: string) => {
  let slices = 1
  const value = await readInSlices(text, async () => {
    slices += 1
  })
  return { value, slices }
}

test('a written value is read back in slices', async () => {
  const text = '"\\\\" [{,}] \\'.repeat(30_000)
  for (const [value, slices] of [
    [{ a: [1, 'x', null] }, 1],
    ['scalar', 1],
    [{ a: large('a'), b: [large('b'), { 'c"': large('c') }], 'd\\': {}, e: [], f: 1.5e-7 }, 4],
    [[1, large('a'), -2, [], large('b'), {}, true, null, ''], 2],
    [Array.from({ length: 200_000 }, (_, n) => n), 3],
    [{ deep: { er: { large: [large('a'), large('b'), text] } }, text }, 7],
    [[text, [[text]], { text }], 3],
    [[[[[[large('a'), large('b')]]]]], 4],
  ] as const) {
    const read = await readBack(JSON.stringify(value))
    expect(read.value).toStrictEqual(value)
    expect(read.slices).toBe(slices)
  }
})

test('a member named __proto__ stays a member', async () => {
  const text = `{"__proto__":{"polluted":"${large('a')}${large('b')}"},"b":{"__proto__":1},"c":["${large('c')}"]}`
  const { value } = await readBack(text)
  expect(JSON.stringify(value)).toBe(text)
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

test('any value next to a large one is read back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.string(), async (value, name) => {
      const text = JSON.stringify({
        first: value,
        large: [large('a'), value, large('b')],
        [name]: value,
        last: [value],
      })
      expect((await readBack(text)).value).toStrictEqual(JSON.parse(text))
    }),
    { numRuns: 30 },
  )
})

test('a refused part ends the writing, and member names are checked too', async () => {
  const seen: number[] = []
  const refuse = (part: string, written: number): void => {
    seen.push(written)
    if (written > 500_000 || part.includes('bad')) throw new Error(`refused ${part.slice(0, 6)}`)
  }
  await expect(write([large('a'), large('b'), large('c')], refuse)).rejects.toThrow('refused "bbbbb')
  expect(seen.length).toBe(2)
  await expect(write({ a: large('a'), bad: large('b') }, refuse)).rejects.toThrow('refused "bad"')
})
