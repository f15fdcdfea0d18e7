import { findAgreement } from '#providers/extraction/choices'
import { type Effort, newEffort, spend } from '#providers/extraction/effort'
import { contentStems, isPlainQuestion, nearly, wordsOf } from '#providers/extraction/text'

// Finds the workflow that a person means: by a number of the menu, a name, or words of its description.

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
type ParsedMessage = { stems: Set<string>; byLetter: Map<string, string[]>; effort: Effort }

const COMPARISON = 4

const parseMessage = (text: string): ParsedMessage => {
  const stems = new Set(wordsOf(text.slice(0, 2000)).map(({ stem }) => stem))
  return { stems, byLetter: Map.groupBy(stems, (stem) => stem[0]!), effort: newEffort() }
}

const meet = ({ stems, byLetter, effort }: ParsedMessage, wanted: string): boolean =>
  stems.has(wanted) ||
  (effort.left >= COMPARISON ? (byLetter.get(wanted[0]!) ?? []) : []).some(
    (stem) => spend(effort, COMPARISON) && nearly(stem, wanted),
  )

function score(heard: ParsedMessage, choice: Choice): { score: number; whole: boolean } {
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
  const number = /^\s*(?:#|n[ro]\.?\s*|(?:number|nummer|num[eé]ro|número|option|opción)\s+)?(\d{1,2})[.)]?\s*$/iu.exec(
    text,
  )
  if (number) {
    const shown = offered.length > 0 ? offered : choices.map(({ workflow_id }) => workflow_id)
    const wanted = shown[Number(number[1]) - 1]
    return wanted !== undefined && choices.some(({ workflow_id }) => workflow_id === wanted)
      ? { kind: 'chosen', workflowId: wanted, sure: true }
      : { kind: 'none' }
  }
  const heard = parseMessage(text)
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

/** Matches a text that starts with one of these words, in any language of the service. */
const begins = (words: string): RegExp => new RegExp(`^[^\\p{L}\\d]*(?:${words})(?!\\p{L})`, 'iu')
/** Matches a text that contains nothing else. */
const saysOnly = (words: string): RegExp =>
  new RegExp(
    `^[^\\p{L}\\d]*(?:${words})(?:\\s+(?:it|that|this|please|bitte|es|das|por favor|takk))?[^\\p{L}\\d]*$`,
    'iu',
  )

const GO = begins(
  '(?:please\\s+|bitte\\s+)?(?:start(?:e|en)?|go|begin|run|do it|try|again|los(?=\\s+geht|[\\s!.]*$)|beginnen|nochmals?|lancer|lancez|démarrer|démarrez|commencer|commencez|allez-y|vas-y|iniciar|inicie|empezar|empiece|adelante|begynn|kjør|sett i gang|igjen)',
)
const CANCEL = saysOnly(
  'cancel|stop|quit|abort|never ?mind|forget it|start over|menu|back|abbrechen|abbruch|stopp|zurück|menü|vergiss es|annuler|annulez|arrêter|arrêtez|retour|laissez tomber|cancelar|cancele|detener|volver|atrás|menú|déjelo|avbryt|tilbake|glem det|meny',
)
const RETURN =
  /^[^\p{L}\d]*(?:answer|question|continue|resume|antwort(?:en)?|frage|fortfahren|répondre|réponse|continuer|responder|respuesta|pregunta|continuar|svare?|spørsmål(?:et)?|fortsett)(?!\p{L})[^\p{L}\d]*\p{L}*[^\p{L}\d]*$/iu
const HELLO = begins(
  'hi|hello|hey|good (?:morning|afternoon|evening|day)|hallo|guten (?:tag|morgen|abend)|grüezi|moin|servus|bonjour|bonsoir|salut|hola|buen(?:os|as) (?:días|tardes|noches)|hei|heisann|god (?:dag|morgen|kveld)',
)
/**
 * A word before "n't" consists of letters, so that the search starts once per word. With digits in it, a number of
 * 8,000 digits was searched from each digit, which took 180 ms.
 */
const NOT =
  /(?<!\p{L})(?:not|never|no(?!\.?\s*\d)|without|cannot|\p{L}+n['’]t|dont|nicht|niemals|ohne|kein\p{L}*|pas|jamais|sans|nunca|sin|ikke|aldri|uten)(?!\p{L})/iu

/** Checks for agreement as an answer to "Shall I start it?". */
export const isGo = (text: string): boolean => findAgreement(text)?.value === true || GO.test(text)

export const isHello = (text: string): boolean => HELLO.test(text)

export const isRefusal = (text: string): boolean => findAgreement(text)?.value === false || isCancel(text)

/** "do not wipe the cache", "what does this do?": the message mentions the workflow but does not ask for it. */
export const isNoWish = (text: string): boolean => NOT.test(text) || isPlainQuestion(text, 0)

/** Checks for a request to return to the question that was set aside. */
export const isReturn = (text: string): boolean => RETURN.test(text)

export const isCancel = (text: string): boolean => CANCEL.test(text)
