import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import jsonata from 'jsonata'

// JSONata keeps its functions as objects that all expressions of a process share, and an expression can be made to write to
// objects it holds (`| |` asks the environment for `$clone`, which it may redefine). Here they are made unchangeable: one
// tenant's expression would otherwise decide what another's calls do, and see what they are given.

type BuiltIn = { signature?: object }

/** As the library's own source lists them; nothing tells them otherwise. */
function builtInNames(): string[] {
  const source = readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8')
  const names = [...source.matchAll(/staticFrame\.bind\('([^']+)'/g)].map(([, name]) => name as string)
  if (names.length < 60) throw new Error('the functions of JSONata were not found')
  return names
}

export async function lockFunctions(): Promise<void> {
  for (const name of builtInNames()) {
    const builtIn = (await jsonata(`$${name}`).evaluate(null)) as BuiltIn
    if (builtIn.signature) Object.freeze(builtIn.signature)
    for (const key of Object.keys(builtIn))
      Object.defineProperty(builtIn, key, { writable: false, configurable: false })
    // Written at every call, and read for the message when it fails.
    for (const key of ['token', 'position'])
      Object.defineProperty(builtIn, key, { value: undefined, writable: true, enumerable: false, configurable: false })
    Object.preventExtensions(builtIn)
  }
}
