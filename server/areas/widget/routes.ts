import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { demoPage, demoScript } from './demo.ts'

// The embeddable chat, one script for any page. In a checkout it is bundled at the first request, which takes a tenth of a
// second. The published package brings the script along.

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
  let bundled: Promise<{ text: string; etag: string }> | undefined
  const widget = (): NonNullable<typeof bundled> => {
    bundled ??= bundleWidget().then((text) => ({
      text,
      etag: `"${createHash('sha1').update(text).digest('base64url')}"`,
    }))
    bundled.catch(() => {
      bundled = undefined
    })
    return bundled
  }

  http.get('/widget/v1.js', async (request, reply) => {
    const { text, etag } = await widget()
    reply.headers({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      etag,
    })
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text)
  })

  http.get('/widget/demo', (_request, reply) =>
    reply.headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy }).send(demoPage),
  )
  http.get('/widget/demo.js', (_request, reply) =>
    reply.headers({ 'content-type': 'text/javascript; charset=utf-8' }).send(demoScript),
  )
}
