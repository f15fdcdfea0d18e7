import { expect, test } from 'vitest'
import type { Json } from '#model/definition'
import { isHttpResponse } from './http-respond.ts'

test.each<[Json, boolean]>([
  [{ status: 200, headers: {}, body: null }, true],
  [{ status: 302, headers: { Location: 'https://shop.example/7' }, body: '' }, true],
  [{ status: 200, headers: { 'Set-Cookie': 'a=b' }, body: null }, false],
  [{ status: 200, headers: { 'x-a': 'b\r\nset-cookie: c=d' }, body: null }, false],
  [{ status: 200, headers: { 'x-a': 1 }, body: null }, false],
  [{ status: 199, headers: {}, body: null }, false],
  [{ status: 600, headers: {}, body: null }, false],
  [{ status: 200.5, headers: {}, body: null }, false],
  [{ status: '200', headers: {}, body: null }, false],
  [{ status: 200, headers: [], body: null }, false],
  [{ status: 200, body: null }, false],
  [{}, false],
  [null, false],
])('whether %j is a response that may be sent: %s', (value, expected) => {
  expect(isHttpResponse(value)).toBe(expected)
})
