/** The part of the package that the tests use; the package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export class Provider {
    constructor(issuer: string, configuration: object)
    readonly Grant: new (of: {
      clientId: string
      accountId: string
    }) => {
      addOIDCScope(scope: string): void
      save(): Promise<string>
    }
    on(event: string, listener: (ctx: never) => void): void
    callback(): (request: IncomingMessage, reply: ServerResponse) => Promise<void>
    interactionFinished(request: IncomingMessage, reply: ServerResponse, result: object): Promise<void>
  }
}
