import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Document, makeDocument, sendDocument } from './document.ts'
import { sendUnknownRoute } from './unknown-routes.ts'

// The console: files with a hash in their name, which browsers keep forever, and one page for every address that a
// browser may open. A file is read at its first request and then kept.

/** Allows only our own scripts and styles and nothing from other origins. Text never becomes markup or code. */
const pagePolicy = (stripe: boolean): string => {
  // Stripe's form for cards needs its script, its frames and its API, and nothing else of Stripe's.
  const script = stripe ? ' https://js.stripe.com' : ''
  const frames = stripe ? ' https://js.stripe.com https://hooks.stripe.com' : ''
  const api = stripe ? ' https://api.stripe.com' : ''
  return [
    "default-src 'none'",
    `script-src 'self'${script}`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "media-src 'self' blob:",
    `connect-src 'self'${api}`,
    "worker-src 'self'",
    `frame-src 'self'${frames}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    // Stripe's script does not support trusted types.
    ...(stripe ? [] : ["require-trusted-types-for 'script'"]),
  ].join('; ')
}

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  wasm: 'application/wasm',
  woff2: 'font/woff2',
  json: 'application/json',
}

type Page = Document & { hashed: boolean }

/** Addresses of the service itself. An unknown address among them is 404, never a page. */
const RESERVED = /^\/(api|auth|ws|docs|openapi\.json|widget|gateway|healthz|readyz|metrics)(\/|$)/

export function addConsole(app: FastifyInstance, directory: string, { stripe = false } = {}): void {
  const policy = pagePolicy(stripe)
  const pages = listPages(directory)
  const index = pages.get('/index.html')
  if (!index) throw new Error(`there is no index.html in ${directory}`)

  app.get('/*', (request, reply) => {
    const path = request.url.split('?', 1)[0]!
    const found = path === '/index.html' ? undefined : pages.get(path)
    if (found) return send(reply, request, found(), policy)
    if (!RESERVED.test(path) && (path === '/' || isNavigation(request, path)))
      return send(reply, request, index(), policy)
    return sendUnknownRoute(app, request, reply)
  })
}

/** The names of imported services contain a dot, but are not files. */
const SERVICE = /^\/services\/(custom|piece)\.[a-z0-9_]+$/

/** Checks whether a person opens a page, as opposed to a program that requests data or a missing file. */
const isNavigation = (request: FastifyRequest, path: string): boolean =>
  (request.headers.accept ?? '').includes('text/html') && (SERVICE.test(path) || !/\.[a-z0-9]{1,5}$/i.test(path))

function send(reply: FastifyReply, request: FastifyRequest, page: Page, policy: string): Promise<FastifyReply> {
  reply
    .header('content-security-policy', policy)
    .header('cache-control', page.hashed ? 'public, max-age=31536000, immutable' : 'no-cache')
  return sendDocument(request, reply, page)
}

const endings = { br: 'br', gzip: 'gz' }

function listPages(directory: string): Map<string, () => Page> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => (file.split('.').at(-1) ?? '') in types)
  return new Map(
    files.map((file) => {
      let page: Page | undefined
      return [`/${file}`, () => (page ??= readPage(directory, file))]
    }),
  )
}

function readPage(directory: string, file: string): Page {
  const encoded = Object.entries(endings).flatMap(([encoding, ending]) => {
    const bytes = tryRead(join(directory, `${file}.${ending}`))
    return bytes ? [[encoding, bytes]] : []
  })
  const type = types[file.split('.').at(-1)!]!
  const document = makeDocument(type, readFileSync(join(directory, file)), Object.fromEntries(encoded))
  return { ...document, hashed: file.startsWith('assets/') }
}

function tryRead(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
