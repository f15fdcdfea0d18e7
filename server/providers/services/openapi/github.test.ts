import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import { checkSchema } from '#model/json-schema-check'
import { slow } from '#test/harness/slow'
import { makeJudge, sampleOf } from '#test/services/openapi-acceptance'
import { compileDocument } from './compile.ts'
import type { CompiledAction } from './index.ts'
import { parseDocument } from './parse.ts'

// Tests GitHub's own document. Its package has 400 MB, so the test fetches it instead of having it as a dependency.

const PACKAGE = '@octokit/openapi@23.0.2'

function fetched(): JsonObject {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-octokit-'))
  try {
    execFileSync('npm', ['pack', PACKAGE, '--silent', '--pack-destination', folder], { stdio: 'pipe' })
    const [archive] = readdirSync(folder)
    const file = 'package/generated/api.github.com.json'
    execFileSync('tar', ['xzf', join(folder, archive!), '-C', folder, file])
    return parseDocument(readFileSync(join(folder, file)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

slow('the operations of GitHub build requests that are valid for its own document', { timeout: 300_000 }, async () => {
  const document = fetched()
  const actions: CompiledAction[] = []
  const summary = compileDocument(document, {}, (action) => void actions.push(action))
  expect([summary.skipped, summary.base_url]).toEqual([0, 'https://api.github.com'])
  expect(actions.length).toBeGreaterThan(1_000)
  const judge = makeJudge(document, { base_url: summary.base_url! })
  for (const [isWhole, least] of [
    [false, 0.99],
    [true, 0.97],
  ] as const) {
    let accepted = 0
    for (const action of actions) {
      const args = sampleOf(action.args_schema, isWhole) as JsonObject
      expect(checkSchema(action.args_schema), action.name).toEqual([])
      if (validateJson(action.args_schema, args).length === 0 && (await judge(action, args)) === undefined)
        accepted += 1
    }
    expect(accepted / actions.length).toBeGreaterThanOrEqual(least)
  }
})
