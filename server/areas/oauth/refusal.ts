import type { FastifyReply } from 'fastify'

// Error responses in the format that OAuth clients expect (RFC 6749, 5.2; RFC 7591, 3.2.2).

export type RefusalCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'

export class OAuthRefusal extends Error {
  readonly code: RefusalCode
  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
  }
}

export const refuse = (code: RefusalCode, message: string): never => {
  throw new OAuthRefusal(code, message)
}

const statusOf = (code: RefusalCode): number => (code === 'invalid_client' ? 401 : 400)

const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' }

/** Sends the result of `work`, or its OAuthRefusal. */
export async function answerWith(reply: FastifyReply, status: number, work: () => Promise<object>): Promise<void> {
  try {
    const body = await work()
    reply.code(status).headers(headers).send(JSON.stringify(body))
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error
    const body = { error: error.code, error_description: error.message }
    reply.code(statusOf(error.code)).headers(headers).send(JSON.stringify(body))
  }
}

/** Parses the body of a form. Refuses a repeated field, since two parsers could use different values of it. */
export function readForm(body: Buffer, contentType: string | undefined): Map<string, string> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType ?? ''))
    return refuse('invalid_request', 'send application/x-www-form-urlencoded')
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    if (fields.has(name)) refuse('invalid_request', `${name.slice(0, 100)} is given twice`)
    fields.set(name, value)
  }
  return fields
}
