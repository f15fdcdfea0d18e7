import { createHash } from 'node:crypto'
import type { Definition } from '#model/definition'
import { allNodesWithPaths } from '#model/graph-ids'
import type { Issue } from '#model/issue'
import { makeLru } from '#model/lru'
import type { Source, SourceProblem } from '#platform/sandbox/frames'
import { type Sandbox, SandboxFailure } from '#platform/sandbox/sandbox'

// Refuses code and JSONata that cannot work when a definition is saved. The sources are parsed in the sandbox, where a
// tenant's text cannot delay others.

const KEPT = 1_000
/**
 * The limit for a save, whose transaction must not be idle for longer. Code that was not checked by then fails at run
 * time.
 */
const MAX_CHECK_MS = 5_000

const ARGUMENT: Record<string, { name: string; language: Source['language'] }> = {
  code: { name: 'source', language: 'code' },
  transform: { name: 'expression', language: 'transform' },
}

type Found = Source & { path: string; key: string }

const keyOf = ({ language, source }: Source): string =>
  `${language} ${createHash('sha256').update(source).digest('base64')}`

function sourcesIn(definition: Definition): Found[] {
  return [...allNodesWithPaths(definition)].flatMap(({ node, path }) => {
    const of = ARGUMENT[node.type]
    const source = of && node.args?.[of.name]
    if (!of || typeof source !== 'string') return []
    const found = { language: of.language, source }
    return [{ ...found, path: `${path}/args/${of.name}`, key: keyOf(found) }]
  })
}

const issueOf = (path: string, { line, message }: SourceProblem): Issue => ({
  path,
  message: line === null ? message : `line ${line}: ${message}`,
})

export function makeCodeCheck(sandbox: Pick<Sandbox, 'check'>) {
  /** Cached by language and hash: most sources of a definition were there when it was last saved or tried. */
  const known = makeLru<SourceProblem[]>(KEPT)

  const learn = async (workspaceId: string, found: Found[]): Promise<void> => {
    const unknown = [...new Map(found.filter(({ key }) => !known.get(key)).map((of) => [of.key, of])).values()]
    if (unknown.length === 0) return
    const sources = unknown.map(({ language, source }) => ({ language, source }))
    const problems = await sandbox.check({ workspaceId, sources, signal: AbortSignal.timeout(MAX_CHECK_MS) })
    for (const [index, { key }] of unknown.entries()) known.set(key, problems[index] ?? [])
  }

  return async function checkCode(workspaceId: string, definition: Definition): Promise<Issue[]> {
    const found = sourcesIn(definition)
    try {
      await learn(workspaceId, found)
    } catch (error) {
      if (!(error instanceof SandboxFailure) && !isTimeout(error)) throw error
    }
    return found.flatMap(({ path, key }) => (known.get(key) ?? []).map((problem) => issueOf(path, problem)))
  }
}

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError'
