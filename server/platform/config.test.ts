import { expect, test } from 'vitest'
import { readConfig, refuseSetting, unknownSettings } from './config.ts'

const provider = { id: 'corp', title: 'Corp', issuer: 'https://id.example', client_id: 'x', client_secret: 'y' }
const key = Buffer.alloc(32, 251).toString('base64')

test.each([
  ['HEDDLE_TRUSTED_PROXIES', '10.0.0.0/999'],
  ['HEDDLE_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['HEDDLE_TRUSTED_PROXIES', '10.0.0.0/0'],
  ['HEDDLE_TRUSTED_PROXIES', '2001:db8::/129'],
  ['HEDDLE_TRUSTED_PROXIES', '10.0.0.0/'],
  ['HEDDLE_ALLOW_TARGETS', '*:80'],
  ['HEDDLE_ALLOW_TARGETS', 'db:99999'],
  ['HEDDLE_ALLOW_TARGETS', 'db:00080'],
  ['HEDDLE_ALLOW_TARGETS', 'db:0'],
  ['HEDDLE_ALLOW_TARGETS', '[12345::]:80'],
  ['HEDDLE_CORS_ORIGINS', 'app.example.com'],
  ['HEDDLE_CORS_ORIGINS', 'https://app.example.com/'],
  ['HEDDLE_CORS_ORIGINS', 'https://App.example.com'],
  ['HEDDLE_CORS_ORIGINS', 'https://app.example.com:443'],
  ['HEDDLE_CORS_ORIGINS', 'https://app.example.com,*'],
  ['HEDDLE_CORS_ORIGINS', 'null'],
  ['HEDDLE_SECRET_KEY', 'correcthorsebatterystaplecorrecthorsebatter'],
  ['HEDDLE_SECRET_KEY', `${key.slice(0, 20)}!${key.slice(20)}`],
  ['HEDDLE_SECRET_KEY', `${key.slice(0, 42)}t=`],
  ['HEDDLE_OIDC', JSON.stringify([{ ...provider, issuer: 'nonsense' }])],
  ['HEDDLE_OIDC', JSON.stringify([{ ...provider, issuer: 'ftp://id.example' }])],
  ['HEDDLE_OIDC', JSON.stringify([provider, { ...provider, title: 'Again' }])],
])('%s refuses %s, and the error names the setting', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(`${name} is not valid. Allowed: `)
})

test.each([
  ['HEDDLE_TRUSTED_PROXIES', '127.0.0.1, 10.0.0.0/8,2001:db8::/128', ['127.0.0.1', '10.0.0.0/8', '2001:db8::/128']],
  ['HEDDLE_ALLOW_TARGETS', 'db:5432, [::1]:80,10.0.0.1:65535', ['db:5432', '[::1]:80', '10.0.0.1:65535']],
  ['HEDDLE_CORS_ORIGINS', 'https://a.example, http://localhost:5173', ['https://a.example', 'http://localhost:5173']],
  ['HEDDLE_CORS_ORIGINS', '*', ['*']],
  ['HEDDLE_SECRET_KEY', key, Buffer.alloc(32, 251)],
  ['HEDDLE_OIDC', JSON.stringify([provider, { ...provider, id: 'two' }]), [provider, { ...provider, id: 'two' }]],
] as const)('%s accepts %s', (name, value, read) => {
  expect(readConfig({ [name]: value })[name]).toEqual(read)
})

test('a variable that looks like a setting and is none is named, with the setting that was probably meant', () => {
  const given = { HEDDLE_BASEURL: 'x', HEDDLE_PORT: '1', HEDDLE_COLOUR: 'red', HEDDLE_DATA_DIR: '/x', PATH: '/bin' }
  expect(unknownSettings(given)).toEqual([
    'heddle: HEDDLE_BASEURL is not a setting and has no effect; did you mean "HEDDLE_BASE_URL"?',
    'heddle: HEDDLE_PORT is not a setting and has no effect; did you mean "PORT"?',
    'heddle: HEDDLE_COLOUR is not a setting and has no effect',
  ])
  const others = { HEDDLE_BASE: 'x', HEDDLE_KEY: 'x', HEDDLE_WORKSPACE: 'x', HEDDLE_HOST: 'x', HEDDLE_UPSTREAMS: 'x' }
  expect(unknownSettings({ ...others, HEDDLE_TEST_SLOW: '1', HEDDLE_MEMBER: '1' })).toEqual([])
})

test('a port that is in use is reported with what to do, and another error with its own text', () => {
  const taken = Object.assign(new Error('listen EADDRINUSE: address already in use'), { code: 'EADDRINUSE' })
  const message = 'PORT 4100 is used by another program. Stop that program, or set PORT to another number.'
  expect(refuseSetting('PORT', 4100, taken).message).toBe(message)
  expect(refuseSetting('PORT', 4100, new Error('EADDRINUSE')).message).toBe(message)
  expect(refuseSetting('PORT', 80, new Error('EACCES')).message).toBe('PORT is not valid: 80: EACCES')
})
