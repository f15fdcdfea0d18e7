import { findAgreement } from '#providers/extraction/choices'
import { type Effort, newEffort, spend } from '#providers/extraction/effort'
import { contentStems, isPlainQuestion, nearly, wordsOf } from '#providers/extraction/text'

// Which workflow somebody means: a number of the menu, a name, or words of its description.

export type Choice = { workflow_id: string; name: string; description: string | null; topics: string[] }

export type Intent =
  | { kind: 'chosen'; workflowId: string; sure: boolean }
  /** Several fit equally well. */
  | { kind: 'several'; workflowIds: string[] }
  | { kind: 'none' }

const IN_NAME = 3
const IN_DESCRIPTION = 1
const IN_TOPICS = 0.5
const WHOLE_NAME = 6
const ENOUGH = 2
const AHEAD = 1.4
const MAX_DESCRIPTION = 1000

const generic = new Set(
  'start run begin go help workflow request make new open show get do please hello hi hey'.split(' '),
)

/** The words of a message, with tolerance for typing errors while the budget lasts. */
type Heard = { stems: Set<string>; byLetter: Map<string, string[]>; effort: Effort }

const COMPARISON = 4

const hear = (text: string): Heard => {
  const stems = new Set(wordsOf(text.slice(0, 2000)).map(({ stem }) => stem))
  return { stems, byLetter: Map.groupBy(stems, (stem) => stem[0]!), effort: newEffort() }
}

const meet = ({ stems, byLetter, effort }: Heard, wanted: string): boolean =>
  stems.has(wanted) ||
  (effort.left >= COMPARISON ? (byLetter.get(wanted[0]!) ?? []) : []).some(
    (stem) => spend(effort, COMPARISON) && nearly(stem, wanted),
  )

function score(heard: Heard, choice: Choice): { score: number; whole: boolean } {
  const name = [...new Set(contentStems(choice.name))]
  const telling = name.filter((stem) => !generic.has(stem))
  const named = telling.filter((stem) => meet(heard, stem)).length
  const whole = name.length > 0 && name.every((stem) => meet(heard, stem))
  const described = new Set(
    contentStems(choice.description?.slice(0, MAX_DESCRIPTION) ?? '').filter(
      (stem) => !generic.has(stem) && !name.includes(stem),
    ),
  )
  const topics = new Set(
    choice.topics.flatMap(contentStems).filter((stem) => !name.includes(stem) && !described.has(stem)),
  )
  const hits = (wanted: Set<string>): number => [...wanted].filter((stem) => meet(heard, stem)).length
  return {
    score: named * IN_NAME + hits(described) * IN_DESCRIPTION + hits(topics) * IN_TOPICS + (whole ? WHOLE_NAME : 0),
    whole,
  }
}

export function findIntent(text: string, choices: Choice[], offered: string[]): Intent {
  const number = /^\s*(?:#|no\.?\s*|number\s+|option\s+)?(\d{1,2})[.)]?\s*$/i.exec(text)
  if (number) {
    const shown = offered.length > 0 ? offered : choices.map(({ workflow_id }) => workflow_id)
    const wanted = shown[Number(number[1]) - 1]
    return wanted !== undefined && choices.some(({ workflow_id }) => workflow_id === wanted)
      ? { kind: 'chosen', workflowId: wanted, sure: true }
      : { kind: 'none' }
  }
  const heard = hear(text)
  const ranked = choices
    .map((choice) => ({ id: choice.workflow_id, ...score(heard, choice) }))
    .filter(({ score: points }) => points >= ENOUGH)
    .toSorted((a, b) => b.score - a.score)
  const [best, second] = ranked
  if (best) {
    if (!second || best.score >= second.score * AHEAD) return { kind: 'chosen', workflowId: best.id, sure: best.whole }
    return {
      kind: 'several',
      workflowIds: ranked.filter(({ score: points }) => points * AHEAD > best.score).map(({ id }) => id),
    }
  }
  const [only] = choices
  if (only && choices.length === 1 && isGo(text)) return { kind: 'chosen', workflowId: only.workflow_id, sure: true }
  return { kind: 'none' }
}

/** Answers to "Shall I start it?". */
export const isGo = (text: string): boolean =>
  findAgreement(text)?.value === true || /^\W*(?:please\s+)?(?:start|go|begin|run|do it|try|again)\b/i.test(text)

export const isRefusal = (text: string): boolean => findAgreement(text)?.value === false || isCancel(text)

/** "do not wipe the cache", "what does this do?": the message mentions the workflow but does not ask for it. */
export const isNoWish = (text: string): boolean =>
  /\b(?:not|never|no(?!\.?\s*\d)|without|cannot|\w+n['’]t|dont)\b/i.test(text) || isPlainQuestion(text, 0)

const PERSON =
  '(?:human|(?:real|actual|live) person|person|someone|somebody|agent|colleague|representative|operator|employee|mensch(?:en)?|mitarbeiter(?:in)?)'

/** "I want to talk to a human": the whole message asks for a person. */
export const isForPerson = (text: string): boolean =>
  text.length <= 200 &&
  !/\b(?:not|never|don['’]?t)\b/i.test(text) &&
  (new RegExp(`^\\W*(?:an?\\s+|the\\s+)?${PERSON}(?:\\s+please)?\\W*$`, 'i').test(text) ||
    new RegExp(
      `\\b(?:talk|speak|chat|connect|transfer|reach|call|sprechen|reden)\\b(?:\\s+\\w+){0,3}?\\s+(?:an?\\s+|the\\s+|einem\\s+)?${PERSON}\\b`,
      'i',
    ).test(text) ||
    /\bmit (?:einem|einer) (?:menschen?|mitarbeiter(?:in)?)\b/i.test(text))

/** Back to the question that was set aside. */
export const isReturn = (text: string): boolean => /^\W*(?:answer|question|continue|resume)\b\W*\w*\W*$/i.test(text)

export const isCancel = (text: string): boolean =>
  /^\W*(?:cancel|stop|quit|abort|never ?mind|forget it|start over|menu|back)(?:\s+(?:it|that|this|please))?\W*$/i.test(
    text,
  )
