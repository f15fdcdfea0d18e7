import { expect, test } from 'vitest'
import { isCommonPassword, weaknessOf } from './common-passwords.ts'

test.each([
  ['password', true],
  ['12345678', true],
  ['PassWord', true],
  [' password ', true],
  ['ｐａｓｓｗｏｒｄ', true],
  ['iloveyou', true],
  ['correct horse battery', false],
  ['passwort der Woche', false],
  ['', false],
])('isCommonPassword(%j) returns %s', (password, common) => {
  expect(isCommonPassword(password)).toBe(common)
})

test.each([
  ['ann.smith@example.com', true],
  ['Ann.Smith', true],
  ['ANN SMITH', true],
  ['ann smith 7q', false],
])('%j is refused because it contains only the email or name of its user: %s', (password, refused) => {
  expect(weaknessOf(password, { email: 'ann.smith@example.com', name: 'Ann Smith' }) !== undefined).toBe(refused)
})
