import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { consoleTexts } from './words/plugin.ts'

const service = process.env.HEDDLE_DEV_TARGET ?? 'http://127.0.0.1:4100'

// `vite web` serves the sources with hot replacement in front of a running service; scripts/build-web.ts builds with it.
export default defineConfig({
  root: import.meta.dirname,
  plugins: [consoleTexts(import.meta.dirname), react(), tailwindcss()],
  build: {
    outDir: join(import.meta.dirname, '..', 'dist', 'web', 'latest'),
    emptyOutDir: true,
    target: 'es2023',
    // Nothing as a data: address, which the content security policy would have to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The size that counts is that of the first page, gzipped; a test measures it.
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/auth', '/ws', '/docs', '/openapi.json', '/widget', '/gateway'].map((path) => [
        // A prefix alone would take /api.ts, a source of ours, for the service's.
        `^${path}(/|$)`,
        { target: service, ws: path === '/ws', changeOrigin: false },
      ]),
    ),
  },
})
