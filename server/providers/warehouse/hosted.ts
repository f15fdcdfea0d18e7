import type { JsonObject } from '#model/definition'
import { hostSchema, messageOf, nameSchema, portSchema, textOf } from './common.ts'
import { sslSchema } from './encryption.ts'
import { type Warehouse, WarehouseFailure } from './index.ts'

// Shared code for database servers with a host, a database, a user and a password.

export type HostPort = { host: string; port: number }

export const hostPortOf = ({ host, port }: JsonObject, defaultPort: number): HostPort => ({
  host: textOf(host).replace(/^\[|\]$/g, ''),
  port: Number(port ?? defaultPort),
})

export const hosted = (port: number): Pick<Warehouse, 'config_schema' | 'secret_fields' | 'destination'> => ({
  config_schema: {
    type: 'object',
    required: ['host', 'database', 'user'],
    additionalProperties: false,
    properties: {
      host: hostSchema,
      port: portSchema(port),
      database: nameSchema('Database'),
      user: nameSchema('User'),
      ssl: sslSchema,
      ca: { type: 'string', title: 'Certificate authority (PEM)', maxLength: 65_536 },
    },
  },
  secret_fields: [{ name: 'password', title: 'Password', required: false }],
  destination: (config) => {
    const place = hostPortOf(config, port)
    return `${place.host.toLowerCase()}:${place.port}`
  },
})

export const withoutTls = (): WarehouseFailure =>
  new WarehouseFailure(
    'tls',
    'the server does not offer TLS, so nothing was sent to it; "ssl": "off" would send everything unencrypted',
  )

export const badCertificate = (error: unknown): WarehouseFailure =>
  new WarehouseFailure(
    'tls',
    `${messageOf(error)}; set "ca" to the certificate authority, or turn off the check with "ssl": "no-verify"`,
  )

/** Checks whether TLS caused the error, which drivers report in many ways. */
export const isAboutTls = (text: string): boolean => /SSL|certificate|CERT|TLS|self.signed|altname/i.test(text)
