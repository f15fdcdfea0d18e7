import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

// Imports point down only: areas → engine → providers → platform → model. An area may use another area's service, never its
// store. What stands at the top of server/ (app.ts and its kin) knows everything, and nothing below knows it.

const mayImport: Record<string, string[]> = {
  model: ['model'],
  platform: ['platform', 'model'],
  providers: ['providers', 'platform', 'model'],
  engine: ['engine', 'providers', 'platform', 'model'],
  areas: ['areas', 'engine', 'providers', 'platform', 'model'],
  sdk: ['sdk', 'model'],
  web: ['web', 'sdk', 'model'],
  widget: ['widget', 'sdk', 'model'],
}

const SOURCES = '{model,server,sdk,web,widget}/**/*.{ts,tsx}'
const IMPORT = /(?:^|[^\w.])(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/gm

/** One line per import that breaks a rule. */
export function violations(root: string): string[] {
  return globSync(SOURCES, { cwd: root, exclude: (path) => path.includes('node_modules') })
    .sort()
    .flatMap((file) => violationsOf(file, readFileSync(join(root, file), 'utf8')))
}

export function violationsOf(file: string, source: string): string[] {
  const targets = [...source.matchAll(IMPORT)].map((match) => match[1]!)
  return targets.flatMap((target) => {
    const reason = judge(file, target)
    return reason === undefined ? [] : [`${file} imports ${target}: ${reason}`]
  })
}

function judge(file: string, target: string): string | undefined {
  if (target.includes('../..')) return 'use a # import instead of climbing'
  const to = resolve(file, target)
  if (to === undefined || /\.test\.tsx?$/.test(file)) return undefined
  const [from, layer] = [layerOf(file), layerOf(to)]
  const allowed = mayImport[from]
  if (allowed !== undefined && !allowed.includes(layer)) return `${from} may import ${allowed.join(', ')} only`
  const [ours, theirs] = [areaOf(file), areaOf(to)]
  if (ours !== undefined && theirs !== undefined && ours !== theirs && /\/store(\.ts)?$/.test(to)) {
    return "an area may use another area's service, never its store"
  }
  return undefined
}

/** The path inside the project, or nothing for a package. */
function resolve(file: string, target: string): string | undefined {
  if (target.startsWith('.')) return normalize(join(dirname(file), target))
  const [, root, rest] = /^#(\w+)\/(.*)$/.exec(target) ?? []
  if (root === undefined) return undefined
  if (['platform', 'providers', 'engine', 'areas'].includes(root)) return `server/${root}/${rest}`
  return `${root}/${rest}`
}

const layerOf = (path: string): string =>
  /^server\/(platform|providers|engine|areas)\//.exec(path)?.[1] ?? path.split('/')[0]!
const areaOf = (path: string): string | undefined => /^server\/areas\/([^/]+)\//.exec(path)?.[1]
