import { expect, test } from 'vitest'
import { readConfig, refuseSetting } from './config.ts'
import { incompleteSettings, unknownSettings } from './setting-hints.ts'

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
  ['HEDDLE_BASE_URL', 'https://user:password@heddle.example'],
  ['HEDDLE_BASE_URL', 'https://heddle.example/?from=mail'],
  ['HEDDLE_BASE_URL', 'https://heddle.example/#top'],
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
  ['HEDDLE_BASE_URL', 'https://heddle.example/', 'https://heddle.example'],
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
  expect(unknownSettings({ S3_BUKET: 'x', DATABASE_ULR: 'x', S3_ANYTHING: 'x', SMPT_URL: 'x' })).toEqual([
    'heddle: S3_BUKET is not a setting and has no effect; did you mean "S3_BUCKET"?',
    'heddle: DATABASE_ULR is not a setting and has no effect; did you mean "DATABASE_URL"?',
  ])
  const others = { HEDDLE_BASE: 'x', HEDDLE_KEY: 'x', HEDDLE_WORKSPACE: 'x', HEDDLE_HOST: 'x', HEDDLE_UPSTREAMS: 'x' }
  expect(unknownSettings({ ...others, HEDDLE_TEST_SLOW: '1', HEDDLE_MEMBER: '1' })).toEqual([])
})

test.each([
  [{ DATABASE_SESSION_URL: 'postgres://a:b@c/d' }, ['DATABASE_URL: the program runs its own PostgreSQL']],
  [{ S3_ENDPOINT: 'http://s3' }, ['S3_BUCKET: blobs are stored in HEDDLE_DATA_DIR']],
  [{ S3_BUCKET: 'x', S3_ACCESS_KEY_ID: 'x' }, ['S3_SECRET_ACCESS_KEY: the key id is not used']],
  [{ STRIPE_WEBHOOK_SECRET: 'x' }, ['STRIPE_SECRET_KEY: the built-in billing is used']],
  [{ STRIPE_SECRET_KEY: 'x' }, ['STRIPE_WEBHOOK_SECRET: webhooks of Stripe are refused']],
  [{ LLM_MODEL: 'x', LLM_API_KEY: 'x' }, ['LLM_PROVIDER: no language model is used']],
  [{ LLM_PROVIDER: 'openai', LLM_API_KEY: 'x' }, ['LLM_MODEL: no language model is used']],
  [{ LLM_PROVIDER: 'openai', LLM_MODEL: 'x' }, ['LLM_API_KEY: no language model is used']],
  [{ LLM_PROVIDER: 'openai-compatible', LLM_MODEL: 'x' }, ['LLM_BASE_URL: no language model is used']],
  [{ SPEECH_API_KEY: 'x' }, ['SPEECH_BASE_URL: the local speech models are used']],
  [{ LLM_PROVIDER: 'openai', LLM_MODEL: 'x', LLM_API_KEY: 'x' }, []],
  [{ LLM_PROVIDER: 'openai-compatible', LLM_EMBEDDINGS_MODEL: 'x', LLM_BASE_URL: 'http://x/v1' }, []],
  [{ S3_BUCKET: 'x' }, []],
  [{}, []],
])('settings that are not complete are named with the missing one and the consequence: %o', (given, lines) => {
  expect(incompleteSettings(readConfig(given)).map((line) => line.split(' without ')[1])).toEqual(lines)
})

test('a port that is in use is reported with what to do, and another error with its own text', () => {
  const taken = Object.assign(new Error('listen EADDRINUSE: address already in use'), { code: 'EADDRINUSE' })
  const message = 'PORT 4100 is used by another program. Stop that program, or set PORT to another number.'
  expect(refuseSetting('PORT', 4100, taken).message).toBe(message)
  expect(refuseSetting('PORT', 4100, new Error('EADDRINUSE')).message).toBe(message)
  expect(refuseSetting('PORT', 80, new Error('EACCES')).message).toBe('PORT is not valid: 80: EACCES')
})
