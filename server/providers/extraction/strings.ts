import type { Candidate } from './index.ts'
import { matches, stemOf } from './text.ts'
import type { Want } from './wants.ts'

// Finds free text that people give without a label: name, place, reason, and values in the format of a reference.

const NAME_PART = "\\p{Lu}[\\p{L}'’.-]*"
const PROPER = `${NAME_PART}(?:\\s+(?:(?:de|van|von|der|den|la|le|di|da|of|the|del|al|bin)\\s+){0,2}${NAME_PART}){0,3}`

const notNames = new Set(
  'i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december hello hi hey thanks please sorry yes no ok the a an not none unknown important wrong here just still very so'.split(
    ' ',
  ),
)

type Cue = { about: RegExp; pattern: RegExp; score: number; part?: (text: string) => string | undefined }

const cue = (about: RegExp, source: string, score: number, part?: Cue['part']): Cue => ({
  about,
  pattern: new RegExp(source, 'gu'),
  score,
  ...(part ? { part } : {}),
})

const firstPart = (text: string) => text.split(/\s+/)[0]
const lastPart = (text: string) => (/\s/.test(text) ? text.split(/\s+/).slice(1).join(' ') : undefined)

const introduced = `(?:[Mm]y (?:full )?name is|[Mm]y name['’]s|[Nn]ame['’]s|[Cc]all me|[Tt]his is|[Ii] am|[Ii]['’]m|[Ii]t['’]s)\\s+(?<value>${PROPER})`
const myNameIs =
  "(?:[Mm]y (?:full )?name is|[Mm]y name['’]s|[Nn]ame['’]s|[Cc]all me)\\s+(?<value>\\p{L}[\\p{L}'’-]*(?:\\s+\\p{L}[\\p{L}'’-]*)??)(?=\\s*(?:$|[.,;!?\\n]|and\\b|from\\b|but\\b|i\\b))"

const reasons = /\b(?:reason|cause|why|justification|explanation)\b/

const cues: Cue[] = [
  cue(/\b(?:first|given|fore) ?name\b/, introduced, 0.88, firstPart),
  cue(/\b(?:last|sur|family) ?name\b/, introduced, 0.88, lastPart),
  cue(/^(?:(?:full|customer|contact|your|person|guest|visitor|user|client|caller|employee) )?name$/, introduced, 0.92),
  cue(/^(?:(?:full|customer|contact|your|person|guest|visitor|user|client|caller|employee) )?name$/, myNameIs, 0.86),
  cue(
    /\b(?:company|organi[sz]ation|employer|firm|business)\b/,
    `(?:[Ww]ork(?:ing)? (?:for|at)|on behalf of|(?:am|['’]m|here) (?:from|with)|[Ee]mployed (?:by|at)|[Ff]rom)\\s+(?<value>${PROPER})`,
    0.86,
  ),
  cue(
    /^(?:destination|to|to city|destination city|arrival city)$/,
    `\\b(?:to|towards|for)\\s+(?<value>${PROPER})`,
    0.88,
  ),
  cue(
    /^(?:origin|from|from city|departure city|departure airport|source city|origin city)$/,
    `\\bfrom\\s+(?<value>${PROPER})`,
    0.88,
  ),
  cue(
    /\b(?:city|town|location|place|country|region|venue)\b/,
    `\\b(?:in|near|around|[Ll]ive in|based in|located in|move to|moved to)\\s+(?<value>${PROPER})`,
    0.86,
  ),
  cue(
    /\baddress\b/,
    `(?<value>\\d{1,5}[a-z]?\\s+(?:${NAME_PART}\\s+){1,4}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Square|Place|Terrace|Row)\\b\\.?(?:,\\s*${PROPER}(?:\\s+\\d{4,6})?)?)`,
    0.88,
  ),
  cue(reasons, '\\b(?:because(?: of)?|since|due to|as)\\s+(?<value>[^.!?\\n]{3,300})', 0.84),
]

/** For "order_number", finds the value after "order", "order number" or "order #". */
const references = (message: string, want: Want): Candidate[] => {
  const kinds = ['number', 'no', 'id', 'code', 'reference', 'ref', 'key', 'sku']
  if (!want.label.some((stem) => kinds.includes(stem))) return []
  const nouns = want.label.filter((stem) => !kinds.includes(stem))
  if (nouns.length === 0) nouns.push(...want.label)
  const noun = nouns.map((stem) => `${stem.replace(/[^\p{L}\p{N}]/gu, '')}s?`).join('[\\s_-]+')
  const pattern = new RegExp(
    `\\b${noun}(?:\\s*(?:number|no\\.?|id|code|ref(?:erence)?|#))*\\s*(?:is|was|:|#|=)?\\s*#?(?<value>(?:[A-Z]{2,3}\\s(?=\\d))?(?=[\\p{L}\\p{N}/-]*\\d)[\\p{L}\\p{N}][\\p{L}\\p{N}/_-]{1,30})(?![\\p{L}\\p{N}])`,
    'giu',
  )
  return matches(message, pattern).map((match) => at(match, match.groups?.value as string, 0.92, true))
}

const at = (match: RegExpMatchArray, value: string, score: number, named = false): Candidate => {
  const from = (match.index ?? 0) + match[0].indexOf(value)
  return { from, to: from + value.length, value, score, named }
}

const isEveryday = (name: string): boolean => {
  const first = (name.split(/\s+/)[0] as string).toLowerCase()
  return notNames.has(first) || notNames.has(stemOf(first))
}

const tidy = (text: string): string => text.replace(/[\s.,;!?]+$/, '').trim()

export const findStrings = (message: string, want: Want): Candidate[] => {
  const name = want.label.join(' ')
  const found = cues
    .filter(({ about }) => about.test(name) || about.test(want.title.join(' ')))
    .flatMap(({ about, pattern, score, part }) =>
      matches(message, pattern).flatMap((match): Candidate[] => {
        const whole = tidy(match.groups?.value ?? '')
        if (whole === '' || (about !== reasons && isEveryday(whole))) return []
        const value = part ? part(whole) : whole
        return value ? [at(match, value, score)] : []
      }),
    )
  return [...references(message, want), ...found]
}
