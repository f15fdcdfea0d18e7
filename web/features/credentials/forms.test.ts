import { expect, test } from 'vitest'
import type { CredentialKinds, ServiceDetail } from '#sdk/types.generated'
import { formsOfService, newSchema, readFilled } from './forms.ts'

const object = (properties: object = {}) => ({ type: 'object', properties })
const kinds: CredentialKinds = {
  kinds: [
    {
      kind: 'bearer',
      title: 'Bearer token',
      description: '',
      config_schema: object(),
      secret_schema: object({ token: {} }),
    },
    {
      kind: 'oauth2_code',
      title: 'OAuth2 with consent',
      description: '',
      config_schema: object({ authorize_url: {}, token_url: {}, scopes: {} }),
      secret_schema: object({ client_secret: {} }),
    },
  ],
  services: [
    {
      service: 'github',
      title: 'GitHub',
      kind: 'bearer',
      hosts: ['api.github.com'],
      config: {},
      secret_schema: object({ token: {} }),
      help: null,
    },
  ],
}
const service = (more: Partial<ServiceDetail>): ServiceDetail => ({
  service: 'piece.depot',
  title: 'Depot',
  description: '',
  keywords: [],
  credentials: [],
  credential_required: true,
  reference: '',
  source: 'piece',
  base_url: null,
  auth: [],
  version: null,
  package: null,
  updated_at: null,
  actions: [],
  triggers: [],
  options: {},
  ...more,
})

test('the form of a piece has the fields that the piece describes, with its secrets separate', () => {
  const field = (name: string, more: object) => ({
    name,
    title: name,
    description: '',
    secret: false,
    required: true,
    ...more,
  })
  const [form] = formsOfService(
    kinds,
    service({
      auth: [
        {
          kind: 'piece',
          title: 'Token',
          config: { service: 'piece.depot', auth: 'CUSTOM_AUTH' },
          fields: [
            field('base_url', { default: 'https://depot.example.com' }),
            field('sandbox', { required: false, default: false }),
            field('region', { options: [{ label: 'Europe', value: 1 }] }),
            field('token', { secret: true }),
          ],
        },
      ],
    }),
  )
  expect(form).toMatchObject({ kind: 'piece', fixed: { service: 'piece.depot', auth: 'CUSTOM_AUTH' }, hosts: [] })
  expect(newSchema(form!)).toMatchObject({
    required: ['name', 'secrets'],
    properties: {
      config: {
        properties: {
          values: {
            required: ['base_url', 'region'],
            properties: {
              base_url: { default: 'https://depot.example.com', minLength: 1 },
              sandbox: { enum: ['true', 'false'], default: 'false' },
              region: { enum: ['1'] },
            },
          },
        },
      },
      secrets: { required: ['token'], properties: { token: { format: 'password' } } },
    },
  })
  const filled = { name: 'D', hosts: [''], config: { values: { base_url: 'x', region: '' } }, secrets: { token: 't' } }
  expect(readFilled(filled)).toEqual({
    name: 'D',
    hosts: [],
    config: { values: { base_url: 'x' } },
    secrets: { token: 't' },
  })
})

test('OAuth2 uses the addresses of the piece, a document the host of its server, a known service its preset', () => {
  const config = {
    authorize_url: 'https://depot.example.com/a',
    token_url: 'https://depot.example.com/t',
    scopes: ['a'],
  }
  const oauth = service({ auth: [{ kind: 'oauth2_code', title: 'Account', config, fields: [] }] })
  expect(formsOfService(kinds, oauth)).toMatchObject([{ kind: 'oauth2_code', config, hosts: [] }])
  const document = service({
    source: 'openapi',
    base_url: 'https://shop.example.com:8443/v1',
    auth: [
      { kind: 'bearer', title: 'Bearer', config: {} },
      { kind: 'unknown', title: 'Other', config: {} },
    ],
  })
  expect(formsOfService(kinds, document)).toMatchObject([{ kind: 'bearer', hosts: ['shop.example.com:8443'] }])
  const known = service({ source: 'built_in', credentials: ['github', 'absent'] })
  expect(formsOfService(kinds, known)).toMatchObject([{ service: 'github', hosts: ['api.github.com'] }])
})
