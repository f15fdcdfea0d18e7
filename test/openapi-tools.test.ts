import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { makeTemporaryDirectory } from './harness/temporary.ts'

// Uses openapi.json as a developer does: validates it, and generates a client that must compile. Each tool runs in a
// separate process, because some tools change globals or print.

const root = join(import.meta.dirname, '..')
const document = join(root, 'openapi.json')
const SLOW = 600_000

const run = (file: string, args: string[], cwd = root): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(file, args, { cwd, maxBuffer: 64 << 20 }).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}`.slice(0, 5000))
  })

/** Runs a module to its end and returns the JSON on its last line of output. */
async function script(source: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', source])
  return JSON.parse(stdout.trim().split('\n').at(-1)!)
}

const read = `JSON.parse((await import('node:fs')).readFileSync(${JSON.stringify(document)}, 'utf8'))`
const print = (value: string): string => `console.log(JSON.stringify(${value}))`

describe('openapi.json', () => {
  test(
    'is valid for swagger-parser, which also resolves every reference',
    async () => {
      const source = `
        import parser from '@apidevtools/swagger-parser'
        const { paths } = await parser.validate(${read})
        ${print('Object.keys(paths).length > 0')}`
      expect(await script(source)).toBe(true)
    },
    SLOW,
  )

  test(
    'has no error for Redocly',
    async () => {
      const source = `
        import { createConfig, lint } from '@redocly/openapi-core'
        const config = await createConfig({ extends: ['recommended'] })
        const found = await lint({ ref: ${JSON.stringify(document)}, config })
        ${print("found.filter(({ severity }) => severity === 'error').map(({ ruleId, message }) => ruleId + ': ' + message)")}`
      expect(await script(source)).toEqual([])
    },
    SLOW,
  )

  test(
    'has no error and no warning for Spectral',
    async () => {
      const source = `
        import core from '@stoplight/spectral-core'
        import rulesets from '@stoplight/spectral-rulesets'
        const spectral = new core.Spectral()
        spectral.setRuleset(new core.Ruleset({ extends: [rulesets.oas] }))
        const found = await spectral.run(${read})
        ${print("found.filter(({ severity }) => severity < 2).map(({ code, path }) => code + ' ' + path.join('/'))")}`
      expect(await script(source)).toEqual([])
    },
    SLOW,
  )
})

/** Saves a workflow with a node and an expression, and reads a refusal: the first things that a developer does. */
const clients: Record<string, { generate: string; use: string }> = {
  'openapi-typescript with openapi-fetch': {
    generate: `
      import openapiTypescript, { astToString } from 'openapi-typescript'
      import { writeFileSync } from 'node:fs'
      writeFileSync('client.ts', astToString(await openapiTypescript(${read})))`,
    use: `
      import createClient from 'openapi-fetch'
      import type { components, paths } from './client.ts'
      const client = createClient<paths>({ baseUrl: 'https://heddle.example' })
      const definition: components['schemas']['Definition'] = {
        nodes: [{ id: 'greet', type: 'set', args: { values: { text: { $cel: 'input.name' } } } }],
        edges: [],
        output: { $ref: 'nodes.greet.output.text' },
      }
      const { data, error } = await client.POST('/api/workflows', { body: { name: 'Greet', definition } })
      export const id: string | undefined = data?.workflow_id
      export const code: 'invalid' | string | undefined = error?.code`,
  },
  '@hey-api/openapi-ts': {
    generate: `
      import { createClient } from '@hey-api/openapi-ts'
      await createClient({
        input: ${JSON.stringify(document)},
        output: { path: 'client' },
        logs: { level: 'silent' },
        plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      })`,
    use: `
      import { createWorkflow } from './client/sdk.gen.ts'
      const { data } = await createWorkflow({ body: { name: 'Greet' } })
      export const id: string | undefined = data?.workflow_id`,
  },
  orval: {
    generate: `
      import { generate } from 'orval'
      await generate({
        input: { target: ${JSON.stringify(document)} },
        output: { target: process.cwd() + '/client.ts', client: 'fetch', mode: 'single' },
      })`,
    use: `
      import { createWorkflow } from './client.ts'
      const answer = await createWorkflow({ name: 'Greet' })
      export const id: string | undefined = answer.status === 201 ? answer.data.workflow_id : undefined`,
  },
}

const tsconfig = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: [],
  },
  include: ['**/*.ts'],
}

describe('a client made from openapi.json compiles under strict TypeScript', () => {
  for (const [name, { generate, use }] of Object.entries(clients)) {
    test(
      name,
      async () => {
        const directory = await makeTemporaryDirectory()
        try {
          await symlink(join(root, 'node_modules'), join(directory.path, 'node_modules'))
          await mkdir(join(directory.path, 'made'))
          const made = join(directory.path, 'made')
          await writeFile(join(made, 'generate.mjs'), generate)
          await run(process.execPath, ['generate.mjs'], made)
          await writeFile(join(made, 'use.ts'), use)
          await writeFile(join(made, 'tsconfig.json'), JSON.stringify(tsconfig))
          const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')
          await run(process.execPath, [compiler, '-p', 'tsconfig.json'], made)
        } finally {
          await directory.remove()
        }
      },
      SLOW,
    )
  }
})
