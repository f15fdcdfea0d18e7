import { expect, test } from 'vitest'
import { canonicalAddress, hostsOf, withoutHosts } from './address.ts'

test.each([
  ['postgres://u:p@one/db', 'postgres://u:p@one/db', []],
  ['postgresql://u@one:5433/db?sslmode=require', 'postgresql://u@one:5433/db?sslmode=verify-full', []],
  ['postgres://u@one/db?sslmode=no-verify', 'postgres://u@one/db?sslmode=no-verify', []],
  [
    'postgres://u@one/db?uselibpqcompat=true&sslmode=require',
    'postgres://u@one/db?uselibpqcompat=true&sslmode=require',
    [],
  ],
  ['postgres:///db?host=/run/postgresql', 'postgres:///db?host=%2Frun%2Fpostgresql', []],
  [
    'postgres://u:p@one,two:5433/db',
    'postgres://u:p@one/db',
    [
      { host: 'one', port: 5432 },
      { host: 'two', port: 5433 },
    ],
  ],
  [
    'postgres://u:a%2Cb%40c@one:1,[::1]:2,three/db?sslmode=require&target_session_attrs=read-write',
    'postgres://u:a%2Cb%40c@one:1/db?sslmode=verify-full',
    [
      { host: 'one', port: 1 },
      { host: '::1', port: 2 },
      { host: 'three', port: 5432 },
    ],
  ],
])('%s is parsed into its plain address and its hosts', (text, plain, hosts) => {
  const address = canonicalAddress(text)!
  expect(withoutHosts(address)).toBe(plain)
  expect(hostsOf(address)).toEqual(hosts)
})

test.each([
  'mysql://one/db',
  'postgres://one,/db',
  'postgres://one,two:99999/db',
  'postgres://one,two:x/db',
  'postgres://one:5432,two:0/db',
  'postgres://one/db?target_session_attrs=any',
  'postgres://one/db?sslmode=required',
  'postgres://one,two/db?target_session_attrs=standby',
  'no address',
])('%s is refused', (text) => expect(canonicalAddress(text)).toBeUndefined())
