import { type Node, parseSync, Visitor } from 'oxc-parser'

// A reader can keep a file or function of this length in mind. Longer code is split into parts with names.

export const MAX_LINES = { file: 400, function: 150 }

/** Files without a limit: generated files, and tables of facts and cases. */
const UNMEASURED = /\.generated\.ts$|-table\.ts$|\.test\.tsx?$/

/**
 * Files and functions that are too long today. None may become much longer, and a file that is short enough is removed
 * from the list.
 */
export const EXCEPTIONS: Record<string, number> = {
  'a function of test/fakes/stripe/server.ts': 250,
  'a function of test/showcase/fill.ts': 175,
  'a function of web/editor/inspector/running-form.tsx': 200,
  'a function of web/features/jobs/form.tsx': 250,
  'a function of web/features/suites/report.tsx': 175,
  'a function of web/features/templates/form.tsx': 200,
  'a function of web/words/find-texts.ts': 175,
  'a function of widget/api.ts': 175,
  'a function of widget/chat.tsx': 225,
  'a function of widget/conversation.ts': 225,
}

/** Checks for the function of a `describe`, which is only a list of tests. */
function isSuite(call: Node): boolean {
  if (call.type !== 'CallExpression') return false
  let callee: Node = call.callee
  for (;;) {
    if (callee.type === 'MemberExpression') callee = callee.object
    else if (callee.type === 'CallExpression') callee = callee.callee
    else return callee.type === 'Identifier' && callee.name === 'describe'
  }
}

type Span = { start: number; end: number }

/** Returns the length of the longest function of a file, in lines. */
function longestFunction(file: string, source: string): number {
  const { program } = parseSync(file, source)
  const suites = new Set<Span>()
  let longest = 0
  const measure = (node: Span): void => {
    if (!suites.has(node)) longest = Math.max(longest, source.slice(node.start, node.end).split('\n').length)
  }
  new Visitor({
    CallExpression(node) {
      if (isSuite(node)) for (const argument of node.arguments) suites.add(argument)
    },
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program)
  return longest
}

function lengthsOf(file: string, source: string): [key: string, lines: number, most: number][] {
  const lines = source.trimEnd().split('\n').length
  return [
    ...(UNMEASURED.test(file) ? [] : [[file, lines, MAX_LINES.file] as [string, number, number]]),
    // A file within the limit for functions cannot contain a function above it.
    [`a function of ${file}`, lines > MAX_LINES.function ? longestFunction(file, source) : 0, MAX_LINES.function],
  ]
}

/** Reports files and functions that are too long, and exceptions that are no longer needed. */
export function overlongCode(sources: Map<string, string>, exceptions = EXCEPTIONS): string[] {
  const all = [...sources].flatMap(([file, source]) => lengthsOf(file, source))
  const complaints = all.flatMap(([key, lines, most]) => {
    const allowed = exceptions[key]
    if (allowed !== undefined && lines <= most) return [`${key} is short enough: take it off EXCEPTIONS`]
    return lines > (allowed ?? most)
      ? [`${key} has ${lines} lines; at most ${allowed ?? most} (or list it in scripts/lengths.ts)`]
      : []
  })
  const keys = new Set(all.map(([key]) => key))
  return [
    ...complaints,
    ...Object.keys(exceptions).flatMap((key) => (keys.has(key) ? [] : [`${key} is gone: take it off EXCEPTIONS`])),
  ]
}
