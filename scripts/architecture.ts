import { pathOf, specifiersOf } from './imports.ts'

// Imports point down only: areas → engine → providers → platform → model. An area may import another area's service,
// never its store. Files at the top of server/ (app.ts and similar) may import everything, and nothing below imports
// them.

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

/** Returns one line per import that breaks a rule. */
export function violations(sources: Map<string, string>): string[] {
  return [...sources].flatMap(([file, source]) =>
    layerOf(file) in mayImport || file.startsWith('server/') ? violationsOf(file, source) : [],
  )
}

export function violationsOf(file: string, source: string): string[] {
  return specifiersOf(file, source).flatMap((target) => {
    const reason = judge(file, target)
    return reason === undefined ? [] : [`${file} imports ${target}: ${reason}`]
  })
}

function judge(file: string, target: string): string | undefined {
  if (target.includes('../..')) return 'use a # import instead of climbing'
  const to = pathOf(file, target)
  if (to === undefined || /\.test\.tsx?$/.test(file)) return undefined
  const [from, layer] = [layerOf(file), layerOf(to)]
  const allowed = mayImport[from]
  if (allowed !== undefined && !allowed.includes(layer)) return `${from} may import ${allowed.join(', ')} only`
  const [ours, theirs] = [areaOf(file), areaOf(to)]
  if (ours !== undefined && theirs !== undefined && ours !== theirs && /[/-]store(\.ts)?$/.test(to)) {
    return "an area may use another area's service, never its store"
  }
  return undefined
}

const layerOf = (path: string): string =>
  /^server\/(platform|providers|engine|areas)\//.exec(path)?.[1] ?? path.split('/')[0]!
const areaOf = (path: string): string | undefined => /^server\/areas\/([^/]+)\//.exec(path)?.[1]
