import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './package/emit.ts'
import { libraries } from './package/libraries.ts'
import { packageServer } from './package/server.ts'

// `npm run package [name…]`: builds the packages into dist/packages/<name> and packs them into dist/packages/*.tgz.

const home = join(root, 'dist', 'packages')
const packages: Record<string, (directory: string) => Promise<void>> = { heddle: packageServer, ...libraries }

const wanted = process.argv.slice(2)
for (const [name, build] of Object.entries(packages)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const directory = join(home, name)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  await build(directory)
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', home], {
    cwd: directory,
    encoding: 'utf8',
  })
  console.log(join(home, packed.trim()))
}
