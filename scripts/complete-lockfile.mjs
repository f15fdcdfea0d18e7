// A lockfile that was written with a registry that has only some platforms lacks the binaries of the others, and `npm
// ci` then refuses it. This script adds these binaries as optional packages for other systems. Run it after `npm
// install`.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const file = join(dirname(fileURLToPath(import.meta.url)), '..', 'package-lock.json')
const lock = JSON.parse(readFileSync(file, 'utf8'))

const systems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
  'aix',
  'wasi',
]
const processors = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el', 'wasm32']

/** Returns the platform that the name of a package stands for. */
function platformOf(name) {
  const words = name.split('/').at(-1).split('-')
  const os = systems.find((system) => words.includes(system))
  const cpu =
    processors.find((processor) =>
      words.some((word) => word === processor || (processor === 'arm' && /^arm(v\d|$)/.test(word))),
    ) ??
    (words.includes('universal')
      ? undefined
      : words.includes('eabi') || words.includes('gnueabihf') || words.includes('musleabihf')
        ? 'arm'
        : undefined)
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined
  return {
    ...(cpu && { cpu: [cpu] }),
    ...(os && os !== 'wasi' && { os: [os] }),
    ...(libc && os === 'linux' && { libc: [libc] }),
  }
}

let added = 0
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, wanted] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = `${place}/node_modules/${name}`
    const shared = `node_modules/${name}`
    if (lock.packages[nested] || lock.packages[shared]) continue
    const version = wanted.replace(/^[\^~>=]+/, '')
    lock.packages[shared] = { version, ...platformOf(name), optional: true, ...(entry.dev && { dev: true }) }
    added += 1
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added} packages of other platforms added`)
