import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../errors.ts'
import { problemAnswer, sendAnswer } from './answer.ts'

// Addresses that do not exist, and addresses that support only other methods (RFC 9110, 15.5.6).

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the methods of the routes at this path, or an empty list if there is none. */
    methodsAt(path: string): string[]
  }
}

type Known = { pattern: RegExp; methods: Set<string> }

/** Must run before any route is added. Pages match every address and are ignored here. */
export function trackMethods(app: FastifyInstance): void {
  const known = new Map<string, Known>()
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return
    const entry = known.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    for (const one of [method].flat()) entry.methods.add(one)
    known.set(url, entry)
  })
  app.decorate('methodsAt', (path: string) => {
    const methods = new Set<string>()
    for (const one of known.values()) if (one.pattern.test(path)) for (const method of one.methods) methods.add(method)
    return [...methods].sort()
  })
}

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replace(/[.+?^$()|[\]{}\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`)

export function sendUnknownRoute(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = app.methodsAt(request.url.split('?', 1)[0]!)
  if (methods.length === 0 || methods.includes(request.method)) {
    const refusal = problem('route_not_found', 'See /openapi.json for the addresses that exist.')
    return sendAnswer(reply, problemAnswer(refusal, request.id))
  }
  const refusal = problem('method_not_allowed', `Use one of ${methods.join(', ')} at this address.`, { allow: methods })
  return sendAnswer(reply, problemAnswer(refusal, request.id))
}
