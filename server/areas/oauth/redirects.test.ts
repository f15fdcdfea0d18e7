import { expect, test } from 'vitest'
import { isAllowedRedirect, isRegistered } from './redirects.ts'

test.each([
  'https://claude.ai/api/mcp/auth_callback',
  'http://localhost:33418/callback',
  'http://127.0.0.1/callback',
  'http://[::1]:9/',
  'cursor://anysphere.cursor-retrieval/oauth/callback',
  'com.example.app:/done',
])('a browser may be sent to %s', (address) => {
  expect(isAllowedRedirect(address)).toBe(true)
})

test.each([
  'http://shop.example/callback',
  'http://localhost.shop.example/',
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'view-source:https://a.example',
  'https://user:password@a.example/',
  'https://a.example/#fragment',
  'https://a.example/\nx',
  'https://a.example\\@b.example',
  '/relative',
  '',
  `https://a.example/${'x'.repeat(2000)}`,
])('a browser may not be sent to %s', (address) => {
  expect(isAllowedRedirect(address)).toBe(false)
})

test('only the port of a loopback address may differ from the registered address', () => {
  const registered = ['http://127.0.0.1:1000/callback', 'https://a.example/callback']
  expect(isRegistered(registered, 'http://127.0.0.1:2000/callback')).toBe(true)
  for (const other of [
    'http://127.0.0.1:1000/other',
    'http://localhost:1000/callback',
    'https://a.example:444/callback',
    'https://a.example/callback?x=1',
    'https://a.example/callback/',
    'https://b.example/callback',
  ])
    expect(isRegistered(registered, other)).toBe(false)
})
