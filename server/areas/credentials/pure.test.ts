import { describe, expect, test } from 'vitest'
import { canonicalHost, hostAllowed } from './hosts.ts'
import { findPreset } from './presets.ts'
import { signAws } from './sigv4.ts'
import { callOf, judge } from './test-call.ts'

describe('a host', () => {
  test.each([
    ['API.Example.com', 'api.example.com'],
    ['*.Example.com', '*.example.com'],
    ['api.example.com:8443', 'api.example.com:8443'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.1', '127.0.0.1'],
    ['[::1]', '[::1]'],
  ])('%s is stored as %s', (given, kept) => expect(canonicalHost(given)).toBe(kept))

  test.each([
    '',
    '*',
    '*.com',
    '*.*.example.com',
    '*.127.0.0.1',
    'https://a.example',
    'a.example/path',
    'a b',
    'u@a.example',
    'a.example.',
    'api.*.com',
  ])('%s is refused', (given) => expect(canonicalHost(given)).toBeUndefined())

  test.each([
    ['api.example.com', 'https://api.example.com/x', true],
    ['api.example.com', 'https://api.example.com:8443/x', true],
    ['api.example.com:8443', 'https://api.example.com/x', false],
    ['api.example.com:443', 'https://api.example.com/x', true],
    ['api.example.com', 'https://api.example.com.evil.example/', false],
    ['api.example.com', 'https://evil-api.example.com/', false],
    ['api.example.com', 'https://api.example.com./', false],
    ['*.example.com', 'https://a.example.com/', true],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['*.example.com', 'https://evilexample.com/', false],
    ['[::1]', 'https://[::1]:99/', true],
    ['[::1]:98', 'https://[::1]:99/', false],
  ])('%s allows %s: %s', (allowed, url, expected) => expect(hostAllowed([allowed], new URL(url))).toBe(expected))
})

describe('AWS Signature Version 4', () => {
  const key = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
    service: 'service',
  }
  const at = new Date('2015-08-30T12:36:00Z')
  const hop = (url: string, method = 'GET') => ({ method, url: new URL(url), headers: {}, body: null })
  const signatureOf = (url: string, method?: string): string =>
    /Signature=(\w+)$/.exec(signAws(hop(url, method), key, at).headers.authorization!)![1]!

  // From the test suite that AWS publishes for the algorithm.
  test.each([
    [
      'get-vanilla',
      'https://example.amazonaws.com/',
      'GET',
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    ],
    [
      'post-vanilla',
      'https://example.amazonaws.com/',
      'POST',
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'get-vanilla-query-order-key-case',
      'https://example.amazonaws.com/?Param2=value2&Param1=value1',
      'GET',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
  ])('signs %s as documented', (_name, url, method, signature) => expect(signatureOf(url, method)).toBe(signature))

  test('never sends the secret key', () => {
    expect(JSON.stringify(signAws(hop('https://example.amazonaws.com/'), key, at))).not.toContain(key.secretAccessKey)
  })
})

describe('the test of a credential', () => {
  const judged = (service: string, status: number, body: string) =>
    judge({ status, body: Buffer.from(body) }, 'host', { isChosen: true, fails: findPreset(service)!.test!.fails }).ok

  test.each([
    ['slack', 200, '{"ok":true,"user":"ann"}', true],
    ['slack', 200, '{"ok":false,"error":"invalid_auth"}', false],
    ['slack_oauth', 200, '{"ok":false,"error":"token_revoked"}', false],
    ['slack', 200, '<html>', false],
    ['linear', 200, '{"data":{"viewer":{"id":"1"}}}', true],
    ['monday', 200, '{"errors":[{"message":"Not Authenticated"}]}', false],
    ['github', 200, '{"login":"ann"}', true],
    ['github', 401, '{}', false],
  ])('of %s judges %i %s', (service, status, body, ok) => expect(judged(service, status, body)).toBe(ok))

  test('is sent to the host that the credential is for', () => {
    const at = (hosts: string[]) => callOf({ service: 'gitlab', kind: 'header', config: {}, hosts }, undefined)?.url
    expect(at(['gitlab.com'])).toBe('https://gitlab.com/api/v4/user')
    expect(at(['git.example.com:8443', '*.example.com'])).toBe('https://git.example.com:8443/api/v4/user')
    expect(at(['*.gitlab.com'])).toBe('https://gitlab.com/api/v4/user')
  })
})
