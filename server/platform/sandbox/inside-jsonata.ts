import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import jsonata from 'jsonata'

// JSONata keeps its functions as objects that all expressions of a process share, and an expression can be made to
// write to objects it has (`| |` reads `$clone` from the environment, which the expression may redefine). This file
// makes these objects immutable. Otherwise one tenant's expression could change the calls of another's, and see their
// arguments.

type BuiltIn = { signature?: object }

/** Reads the names from the library's source, because the library does not export them. */
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
    // The library writes these at every call, and reads them for the error message.
    for (const key of ['token', 'position'])
      Object.defineProperty(builtIn, key, { value: undefined, writable: true, enumerable: false, configurable: false })
    Object.preventExtensions(builtIn)
  }
}
