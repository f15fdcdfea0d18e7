import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { consoleTexts } from './words/plugin.ts'

const service = process.env.HEDDLE_DEV_TARGET ?? 'http://127.0.0.1:4100'

// `vite web` serves the sources with hot replacement in front of a running service; scripts/build-web.ts uses it for
// the build.
export default defineConfig({
  root: import.meta.dirname,
  plugins: [consoleTexts(import.meta.dirname), react(), tailwindcss()],
  build: {
    outDir: join(import.meta.dirname, '..', 'dist', 'web', 'latest'),
    emptyOutDir: true,
    target: 'es2023',
    // Inlines no assets as data: URLs, which the content security policy would have to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Only the gzipped size of the first page matters; a test measures it.
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/auth', '/ws', '/docs', '/openapi.json', '/widget', '/gateway'].map((path) => [
        // A prefix alone would also proxy /api.ts, which is one of our sources.
        `^${path}(/|$)`,
        { target: service, ws: path === '/ws', changeOrigin: false },
      ]),
    ),
  },
})
