import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type Document, makeDocument, sendDocument } from '#platform/http/document'
import { demoPage, demoScript } from './demo.ts'

// The embeddable chat, one script for any page. In a source checkout it is bundled at the first request, which takes a
// tenth of a second. The published package contains the script.

const HOME = join(import.meta.dirname, '..', '..', '..', 'widget')
const PACKAGED = join(HOME, 'v1.js')
const ENTRY = join(HOME, 'main.tsx')

export async function bundleWidget(): Promise<string> {
  if (existsSync(PACKAGED)) return readFile(PACKAGED, 'utf8')
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    charset: 'utf8',
  })
  return outputFiles[0]!.text
}

const pagePolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; media-src blob:; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

export function addWidget(http: FastifyInstance): void {
  let bundled: Promise<Document> | undefined
  const widget = (): Promise<Document> => {
    bundled ??= bundleWidget().then((text) => makeDocument('text/javascript; charset=utf-8', text))
    bundled.catch(() => {
      bundled = undefined
    })
    return bundled
  }

  http.get('/widget/v1.js', async (request, reply) => {
    const document = await widget()
    reply.headers({
      'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    })
    return sendDocument(request, reply, document)
  })

  const page = makeDocument('text/html; charset=utf-8', demoPage)
  const script = makeDocument('text/javascript; charset=utf-8', demoScript)
  http.get('/widget/demo', (request, reply) => {
    reply.headers({ 'content-security-policy': pagePolicy, 'cache-control': 'no-cache' })
    return sendDocument(request, reply, page)
  })
  http.get('/widget/demo.js', (request, reply) => {
    reply.header('cache-control', 'no-cache')
    return sendDocument(request, reply, script)
  })
}
