import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { rewrite, rewritten } from '../scripts/rewritten-packages.ts'

// The bundle contains parts of packages in another form (docs/decisions/one-program.md).

const root = join(import.meta.dirname, '..')

async function loadRewrittenZod(): Promise<typeof z> {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-rewritten-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const outfile = join(directory, 'zod.mjs')
  const stdin = { contents: "export { z } from 'zod'", resolveDir: root }
  await build({ stdin, bundle: true, format: 'esm', platform: 'node', outfile, plugins: [rewritten] })
  expect(readFileSync(outfile, 'utf8').includes('!== latest')).toBe(true)
  return ((await import(outfile)) as { z: typeof z }).z
}

/** Uses schemas in every way that the replaced code takes part in. */
function observe(zod: typeof z): unknown {
  const named = zod.string().trim().min(2).max(5).describe('a name')
  const tree: z.ZodType = zod.strictObject({
    name: named,
    get children() {
      return zod.array(tree).optional()
    },
  })
  const choice = zod.discriminatedUnion('kind', [
    zod.object({ kind: zod.literal('number'), value: zod.number().int().default(3) }),
    zod
      .object({ kind: zod.literal('text'), value: zod.email().nullable() })
      .refine(({ value }) => value !== 'a@b.test'),
  ])
  const open = zod.object({ a: zod.string() }).extend({ b: zod.coerce.number() }).partial().catchall(zod.boolean())
  const { parse, safeParse, optional } = named
  const values = [
    [tree, { name: ' Ada ', children: [{ name: 'Bob', children: [{ name: 'x' }] }] }],
    [tree, { name: 'Ada', other: 1 }],
    [choice, { kind: 'number' }],
    [choice, { kind: 'text', value: 'a@b.test' }],
    [open, { b: '7', c: true }],
    [open.pick({ a: true }).required(), {}],
    [optional(), undefined],
    [
      zod
        .array(zod.enum(['x', 'y']))
        .nonempty()
        .transform((all) => all.length),
      ['x', 'y'],
    ],
  ] as const
  return {
    parsed: values.map(([schema, value]) => schema.safeParse(value)).map(({ data, error }) => data ?? error?.issues),
    documents: [tree, choice, open].map((schema) => zod.toJSONSchema(schema, { io: 'input' })),
    detached: [parse('Ada'), safeParse('A').success],
    meta: [named.description, named.meta(), named.minLength, named.maxLength, named.optional().unwrap().minLength],
    kinds: [named instanceof zod.ZodString, named instanceof zod.ZodType, named instanceof zod.ZodNumber],
  }
}

test('schemas of the bundle behave as those of the package', async () => {
  expect(observe(await loadRewrittenZod())).toEqual(observe(z))
})

test('a build refuses a package that no longer has the text to replace', () => {
  const path = join(root, 'node_modules/zod/v4/core/util.js')
  expect(rewrite(path, readFileSync(path, 'utf8'))).not.toBeUndefined()
  expect(() => rewrite(path, 'export const other = 1')).toThrow('look whether it still has to be rewritten')
  expect(rewrite(join(root, 'node_modules/zod/v4/core/parse.js'), '')).toBeUndefined()
})
