import type { Json, JsonObject } from '#model/definition'
import { newEffort, spend } from './effort.ts'
import type { Candidate, Extraction, ExtractionRequest, Place, Requirement, Span } from './index.ts'
import { findLabelled } from './labels.ts'
import { readLabelled } from './named.ts'
import { fits, read, withSingleSpaces } from './readers.ts'
import { scan } from './scan.ts'
import { isCorrected, isPlainQuestion, overlaps, wordsOf } from './text.ts'
import { type Want, wantOf } from './wants.ts'

// Reads values from a message with rules alone. Values are never invented: an ambiguous value, or a value that could
// belong to two requirements, is reported as missing. The same words are used for two requirements only if the message
// names both.

const MAX_MESSAGE_LENGTH = 4000
const MAX_WANTS = 100
const DOUBT = 0.08
const LEAST = 0.5

type Claim = Candidate & { want: Want }

const same = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b)

/** If a message contains more than this many different values of one kind, it is unclear which value is meant. */
const MAX_VALUES = 8

const distinct = (candidates: Candidate[]): Candidate[] => {
  if (candidates.length <= MAX_VALUES) return candidates
  const values = new Map(candidates.toReversed().map((each) => [JSON.stringify(each.value), each]))
  return values.size <= MAX_VALUES ? [...values.values()].reverse() : []
}

const claimsOf = (message: string, wants: Want[], known: JsonObject, place: Place): Claim[] => {
  const scanned = scan(message, place)
  const labelled = findLabelled(message, scanned.spoken, wants, place.effort).flatMap((label): Claim[] => {
    const candidate = readLabelled(scanned, label, place)
    if (!candidate) return []
    const score = isPlainQuestion(message, candidate.from) ? candidate.score * 0.7 : candidate.score
    return [{ ...candidate, score, want: label.want }]
  })
  const labelledWants = new Set(labelled.filter(({ named, score }) => named && score >= 0.9).map(({ want }) => want))
  const found = wants
    .filter((want) => !labelledWants.has(want))
    .flatMap((want) => distinct(read(scanned, want, place)).map((candidate): Claim => ({ ...candidate, want })))
  const isFitting = ({ want, value }: Claim): boolean => spend(place.effort, 2 + want.size / 50) && fits(want, value)
  return [...labelled, ...found]
    .filter((claim) => claim.score >= LEAST && isFitting(claim))
    .filter(({ want, named }) => named || !Object.hasOwn(known, want.requirement.name))
}

/** Removes values that the message later corrects. */
const withoutCorrected = (message: string, claims: Claim[]): Claim[] => {
  const rivals = Map.groupBy(claims, ({ want }) => want)
  return claims.filter(
    (claim) =>
      !rivals.get(claim.want)!.some((later) => isCorrected(message, claim, later) && !same(later.value, claim.value)),
  )
}

const assign = (claims: Claim[], asked: string | undefined): Map<Want, Claim> => {
  const settled = new Map<Want, Claim>()
  const doubtful = new Set<Want>()
  const taken: Span[] = []
  const contested: Span[] = []
  const isAsked = (want: Want) => want.requirement.name === asked
  const open = (claim: Claim) => !settled.has(claim.want) && !doubtful.has(claim.want)
  const free = (claim: Claim) =>
    claim.named || (!taken.some((span) => overlaps(span, claim)) && !contested.some((span) => overlaps(span, claim)))
  for (const claim of claims.toSorted((a, b) => b.score - a.score || Number(b.named) - Number(a.named))) {
    if (!open(claim) || !free(claim)) continue
    const near = claims.filter(
      (other) =>
        (other.want === claim.want || (!other.named && overlaps(other, claim))) &&
        other !== claim &&
        other.score > claim.score - DOUBT &&
        open(other) &&
        free(other),
    )
    if (near.some((other) => other.want === claim.want && !same(other.value, claim.value))) {
      doubtful.add(claim.want)
      continue
    }
    const rivals = near.filter((other) => other.want !== claim.want)
    if (!claim.named && rivals.length > 0 && !isAsked(claim.want)) {
      // A contested value goes to the requirement that was asked for. If neither was asked for, no requirement gets it.
      if (!rivals.some((rival) => isAsked(rival.want))) contested.push(claim)
      continue
    }
    settled.set(claim.want, claim)
    taken.push(claim)
  }
  return settled
}

/** Reads a message that is a JSON object, which a program may send. */
const readJson = (message: string, wants: Want[]): Map<Want, Claim> | undefined => {
  if (!/^\s*\{[\s\S]*\}\s*$/.test(message)) return undefined
  try {
    const given = JSON.parse(message) as JsonObject
    const whole = { from: 0, to: message.length, score: 0.97, named: true }
    const claims = wants
      .filter((want) => Object.hasOwn(given, want.requirement.name))
      .map((want): Claim => ({ ...whole, want, value: given[want.requirement.name] as Json }))
    return new Map(claims.filter(({ want, value }) => fits(want, value)).map((claim) => [claim.want, claim]))
  } catch {
    return undefined
  }
}

const noAnswer =
  /^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks|thank you|help|cancel|stop|skip|what|why|how|who|where|which|when|no idea|i don['’]?t know|i do not know|not sure|dunno|idk|later|never ?mind|none|nothing)\b/i

/** Uses a bare reply as the answer to the question, if the reply is a valid value. */
const bareAnswer = (message: string, want: Want, place: Place): Candidate | undefined => {
  const text = message.trim()
  const whole = { from: 0, to: message.length, named: false }
  if (text === '' || text.endsWith('?') || noAnswer.test(text)) return undefined
  if (want.kind === 'choice' && fits(want, text)) return { ...whole, value: text, score: 0.9 }
  if (want.kind === 'string') {
    const value = text.replace(/[.!]+$/, '')
    return value.length <= 500 && fits(want, value) ? { ...whole, value, score: 0.75 } : undefined
  }
  if (want.kind === 'list' && want.item?.kind === 'string') {
    const values = withSingleSpaces(text)
      .replace(/[.!]+$/, '')
      .split(/\s*(?:,|;|\n|\band\b)\s*/)
      .filter(Boolean)
    return fits(want, values) ? { ...whole, value: values, score: 0.7 } : undefined
  }
  if (want.kind !== 'number' && want.kind !== 'money') return undefined
  const numbers = scan(message, place).numbers
  const [number] = numbers
  if (!number || numbers.length !== 1 || want.moneyObject || wordsOf(text).length > 6 || !fits(want, number.value))
    return undefined
  return { ...whole, value: number.value, score: number.approximate || number.weak ? 0.75 : 0.85 }
}

export const extractByRules = (request: ExtractionRequest): Extraction => {
  const { timeZone, now, known = {}, asked } = request
  const message = request.message.slice(0, MAX_MESSAGE_LENGTH).normalize('NFC')
  const place = { timeZone, now, effort: newEffort() }
  const requirements = request.requirements.map((each) => (typeof each === 'string' ? { name: each } : each))
  const wants = requirements
    .filter(({ name }, at) => at < MAX_WANTS || name === asked)
    .map((each) => wantOf(each, place.effort))
  const written = readJson(message, wants)
  const settled = written ?? assign(withoutCorrected(message, claimsOf(message, wants, known, place)), asked)
  const askedWant = wants.find(({ requirement }) => requirement.name === asked)
  if (askedWant && settled.size === 0 && !Object.hasOwn(known, askedWant.requirement.name)) {
    const answer = bareAnswer(message, askedWant, place)
    if (answer) settled.set(askedWant, { ...answer, want: askedWant })
  }
  return report(requirements, known, settled)
}

const report = (requirements: Requirement[], known: JsonObject, settled: Map<Want, Claim>): Extraction => {
  const values: JsonObject = {}
  const confidence: Record<string, number> = {}
  const found = new Map([...settled.values()].map((claim) => [claim.want.requirement.name, claim]))
  for (const { name } of requirements) {
    const claim = found.get(name)
    if (claim) set(values, confidence, name, claim.value, Math.round(claim.score * 100) / 100)
    else if (Object.hasOwn(known, name)) set(values, confidence, name, known[name] as Json, 1)
  }
  const missing = requirements
    .filter(({ name, required }) => required !== false && !Object.hasOwn(values, name))
    .map(({ name }) => name)
  return { values, missing, confidence, extracted_by: 'rules' }
}

/** Sets own properties, because a requirement may be called __proto__. */
const set = (values: JsonObject, confidence: Record<string, number>, name: string, value: Json, sure: number) => {
  Object.defineProperty(values, name, { value, enumerable: true, writable: true, configurable: true })
  Object.defineProperty(confidence, name, { value: sure, enumerable: true, writable: true, configurable: true })
}
