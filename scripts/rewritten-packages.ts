import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/**
 * Replaces parts of packages with equivalent code that is cheaper at start. The router generates and compiles a
 * function for each part of each address; the database driver signs in through an API that takes many iterations of the
 * event loop; a start makes 2,400 schemas.
 */
const REWRITTEN: Record<string, [text: RegExp, instead: string][]> = {
  'find-my-way/lib/node.js': [
    [/return new Function\('path', 'i', .*/, 'return (path, i) => path.startsWith(prefix, i)'],
  ],
  'find-my-way/lib/handler-storage.js': [
    [
      /return new Function\('NullObject', .*/,
      `return function (param0, param1, param2, param3, extraParams) {
        const made = new NullObject()
        for (let i = 0; i < params.length; i++)
          made[params[i]] = i === 0 ? param0 : i === 1 ? param1 : i === 2 ? param2 : i === 3 ? param3 : extraParams[i - 4]
        return made
      }`,
    ],
  ],
  'find-my-way/index.js': [
    // Checks constants, with a parser of regular expressions.
    [/if \(!isRegexSafe\([A-Z_]+\)\) \{\n.*\n\}/g, ''],
    [/const isRegexSafe = .*/, "const isRegexSafe = (regex) => require('safe-regex2')(regex)"],
  ],
  'fastify/lib/plugin-utils.js': [
    // Loads the package for the versions of plugins, which the lockfile fixes.
    [/const semver = .*/, 'const semver = { gt: () => false, satisfies: () => true }'],
  ],
  'prom-client/lib/metrics/processCpuTotal.js': [
    // For exemplars, which are not used.
    [
      /const OtelApi = .*/,
      "const OtelApi = { get trace() { return require('@opentelemetry/api').trace }, get context() { return require('@opentelemetry/api').context } }",
    ],
  ],
  'pg/lib/crypto/utils.js': [
    [
      /(async function sha256\(text\) \{\n).*/,
      "$1return nodeCrypto.createHash('sha256').update(Buffer.from(text)).digest()",
    ],
    [
      /(async function hmacSha256\(keyBuffer, msg\) \{\n).*\n.*/,
      "$1return nodeCrypto.createHmac('sha256', Buffer.from(keyBuffer)).update(msg).digest()",
    ],
    [
      /(async function deriveKey\(password, salt, iterations\) \{\n).*\n.*\n.*/,
      "$1return require('util').promisify(nodeCrypto.pbkdf2)(password, salt, iterations, 32, 'sha256')",
    ],
    [/const webCrypto = .*/, 'const webCrypto = globalThis.crypto'],
    [/const subtleCrypto = .*/, 'const subtleCrypto = { digest: (...all) => webCrypto.subtle.digest(...all) }'],
    [/return webCrypto\.getRandomValues\(Buffer\.alloc\(length\)\)/, 'return nodeCrypto.randomBytes(length)'],
  ],
  // The messages of errors in fifty languages.
  'zod/v4/core/index.js': [[/export \* as locales from .*/, '']],
  'zod/v4/classic/external.js': [[/export \* as locales from .*/, '']],
  'zod/v4/core/core.js': [
    // Looks for methods that a program has added to the prototypes of schemas, on every schema and each of its traits.
    [/ {8}const proto = _\.prototype;\n {8}for \(const k in proto\) \{\n(?: {12}.*\n)*? {8}\}\n/, ''],
    // Looks up whether a prototype has the methods of a trait. Schemas of one kind have the same prototype.
    [
      /if \(initialized\) \{\n((?: {12}.*\n)+) {8}\}/,
      'if (initialized && Object.getPrototypeOf(inst) !== latest) {\n$1            latest = own;\n        }',
    ],
    [/const initialized = .*\n/, '$&    let latest;\n'],
  ],
  'zod/v4/core/util.js': [
    // Stores each method that is used on its schema, which makes a schema slow to change.
    [/return this == null \? fn : own\(this, key, fn\.bind\(this\)\);/, 'return this == null ? fn : fn.bind(this);'],
    // Copies every property through its descriptor, for the few that are accessors.
    [
      /export function mergeDefs\(\.\.\.defs\) \{\n(?: {4}.*\n)+?\}/,
      `export function mergeDefs(...defs) {
        const merged = {}
        for (const def of defs)
          for (const key of Reflect.ownKeys(def)) {
            const described = Object.getOwnPropertyDescriptor(def, key)
            if (described.get || !described.writable || !described.enumerable || Object.hasOwn(merged, key))
              Object.defineProperty(merged, key, described)
            else merged[key] = described.value
          }
        return merged
      }`,
    ],
  ],
}

/** Returns the text of a file with its replacements, or undefined if nothing of it is replaced. */
export function rewrite(path: string, contents: string): string | undefined {
  const parts = Object.entries(REWRITTEN).find(([file]) => path.endsWith(`/node_modules/${file}`))?.[1]
  return parts?.reduce((before, [text, instead]) => {
    const after = before.replace(text, instead)
    if (after === before) throw new Error(`${path} has no ${text} any more: look whether it still has to be rewritten`)
    return after
  }, contents)
}

export const rewritten: Plugin = {
  name: 'rewritten',
  setup(build) {
    build.onLoad({ filter: /\/node_modules\/(fastify|find-my-way|pg|prom-client|zod)\/.*\.js$/ }, async ({ path }) => {
      const contents = rewrite(path, await readFile(path, 'utf8'))
      return contents === undefined ? undefined : { contents, loader: 'js' }
    })
  },
}
