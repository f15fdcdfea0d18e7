import type { Json } from '#model/definition'
import { isObject } from '#model/json'

// Runs are found by the words in their input, results and error, and by fields of their input. What is indexed are hashes of these: a
// hash that another text shares costs a look into a run, and never shows a wrong one.

const WORD = /[\p{L}\p{N}]+/gu
const MAX_TERMS = 1_000
/** Characters of texts that are taken to pieces. */
const MAX_TEXT = 32 * 1024
const MAX_VALUE = 200

/** 53 bits, so that it is a number here and a bigint there. */
export function hashOf(text: string): number {
  let low = 0x811c9dc5
  let high = 0x27d4eb2f
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x5bd1e995) ^ (high >>> 15)
  }
  low ^= low >>> 16
  high ^= high >>> 13
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0)
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? []

export const wordTerm = (workspaceId: string, word: string): number => hashOf(`${workspaceId} w ${word}`)
const fieldTerm = (workspaceId: string, path: string, value: string): number =>
  hashOf(`${workspaceId} i ${path}=${value}`)
const versionTerm = (workspaceId: string, versionId: string): number => hashOf(`${workspaceId} v ${versionId}`)

/** What a run is found by. */
export function addTerms(
  terms: Set<number>,
  {
    workspaceId,
    versionId,
    input,
    results,
    error,
  }: { workspaceId: string; versionId: string | null; input: Json; results: Json; error: Json },
): void {
  if (versionId !== null) terms.add(versionTerm(workspaceId, versionId))
  let left = MAX_TERMS
  let text = MAX_TEXT
  const addWords = (words: string): void => {
    text -= words.length
    if (text < 0) return
    for (const word of wordsOf(words)) {
      if (left-- <= 0) return
      terms.add(wordTerm(workspaceId, word))
    }
  }
  const visit = (value: Json | undefined, path: string | null): void => {
    if (left <= 0 || text <= 0 || value === null || value === undefined) return
    if (Array.isArray(value)) {
      for (const [at, one] of value.entries())
        visit(one, path === null ? null : path === '' ? `${at}` : `${path}.${at}`)
    } else if (isObject(value)) {
      for (const [name, one] of Object.entries(value)) {
        addWords(name)
        visit(one, path === null ? null : path === '' ? name : `${path}.${name}`)
      }
    } else {
      const written = String(value)
      if (path !== null && written.length <= MAX_VALUE) terms.add(fieldTerm(workspaceId, path, written))
      addWords(written)
    }
  }
  visit(input, '')
  visit(results, null)
  visit(error, null)
}

/** What a run must hold to be found; empty where nothing of it is in the index. */
export const wantedTerms = (
  workspaceId: string,
  wanted: { q: string | null; input: { path: string[]; value: string }[]; versionId: string | null },
): number[] => [
  ...new Set([
    ...(wanted.q === null ? [] : wordsOf(wanted.q).map((word) => wordTerm(workspaceId, word))),
    ...wanted.input.flatMap(({ path, value }) =>
      value.length <= MAX_VALUE ? [fieldTerm(workspaceId, path.join('.'), value)] : [],
    ),
    ...(wanted.versionId === null ? [] : [versionTerm(workspaceId, wanted.versionId)]),
  ]),
]
