import type { FastifyRequest } from 'fastify'
import type { AccessLevelFinders } from '../access/check.ts'
import type { TokenScope } from '../access/rules.ts'
import type { Identifier } from '../auth/identify.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/pool.ts'
import type { Logger } from '../log.ts'
import type { Peers } from '../peers.ts'
import type { Vault } from '../secrets.ts'
import type { Identity } from './context.ts'
import type { AnyRoute } from './route.ts'

/** Turns a bearer token of a webhook or a widget into an identity. Each area registers its own. */
export type TokenIdentifier = (request: FastifyRequest, params: Record<string, string>) => Promise<Identity>

export type Kernel = {
  config: Config
  db: Database
  log: Logger
  vault: Vault
  identifier: Identifier
  accessLevels: AccessLevelFinders
  tokens: Partial<Record<TokenScope, TokenIdentifier>>
  /** The other processes of this program. */
  peers?: Peers | undefined
  /** The address of the service for its users. Known once the service listens. */
  baseUrl(): string
  /** Checks every response against its schema. On in tests, so that the OpenAPI document stays correct. */
  checkAnswers: boolean
  onAnswered?(route: AnyRoute, status: number, seconds: number): void
  onOverloaded?(): void
  /** Receives a function that returns the numbers of requests at work and waiting. */
  onAdmission?(figures: () => { atWork: number; waiting: number }): void
}
