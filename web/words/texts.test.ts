import { expect, test } from 'vitest'
import { features } from '#web/features/registry.ts'
import { de } from './de.ts'
import { texts } from './texts.ts'

test('every text stands in the catalogue once, and every language has all of them', () => {
  expect(new Set(texts).size).toBe(texts.length)
  expect(Object.keys(de).toSorted()).toEqual([...texts].toSorted())
  expect(Object.values(de).filter((text) => text.trim() === '')).toEqual([])
})

test('the navigation is translated', () => {
  const labels = features.flatMap(({ nav = [] }) => nav.map(({ label }) => label))
  expect(labels.filter((label) => !(texts as readonly string[]).includes(label))).toEqual([])
})
