import { expect, test } from 'vitest'
import { parsePath, pathTo } from './node-path.ts'

test.each(['line', 'each[3].line', 'each#2[0].turns[12].line'])('%s is parsed and formatted', (path) => {
  expect(pathTo(parsePath(path)!)).toBe(path)
})

test.each(['', 'each[3]', 'each[3].', 'each[x].line', 'each[3]line', 'a.b'])('%s is not an address', (path) => {
  expect(parsePath(path)).toBeUndefined()
})
