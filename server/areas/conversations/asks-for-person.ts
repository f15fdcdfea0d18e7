// Detects requests for a person, such as "I want to talk to a human", in all languages of the service.

const MAX_LENGTH = 200

/**
 * The words for a person, the phrases that ask for one, and the words that negate them. `\b` does not know umlauts
 * and accents, so the patterns use `\p{L}`.
 */
type Language = { person: string; asks(person: string): string; not: string }

const before = '(?<!\\p{L})'
const after = '(?!\\p{L})'
/** Matches at most this number of words between two others. */
const between = (words: number): string => `(?:\\s+[\\p{L}’']+){0,${words}}?\\s+`

const en: Language = {
  person:
    '(?:an?\\s+|the\\s+)?(?:human(?: being)?|(?:real|actual|live) person|person|someone|somebody|agent|colleague|representative|operator|employee)',
  asks: (person) => `(?:talk|speak|chat|connect|transfer|reach|call)${between(3)}${person}`,
  not: "not|never|don['’]?t",
}

const de: Language = {
  person:
    '(?:ein(?:e[mnr]?)?\\s+)?(?:(?:echte|richtige)[nmr]?\\s+)?(?:mensch(?:en)?|person|mitarbeiter(?:in)?|kolleg(?:en?|in)|berater(?:in)?|jemand(?:em)?)',
  asks: (person) =>
    `(?:mit\\s+${person}(?:\\s+\\p{L}+){0,3}?\\s+(?:sprechen|reden|chatten|telefonieren|verbinden|verbunden)|(?:sprechen|reden|verbinden|verbinde)${between(3)}mit\\s+${person}|mit\\s+eine[mr]\\s+(?:mensch(?:en)?|mitarbeiter(?:in)?))`,
  not: 'nicht|nie|kein\\p{L}*',
}

const fr: Language = {
  person:
    "(?:une?\\s+|l['’])?(?:vraie?\\s+)?(?:(?:être )?humain|personne|conseill(?:er|ère)|agent|employée?|collègue|quelqu['’]un)",
  asks: (person) => `(?:parler|discuter|joindre|contacter)${between(2)}${person}`,
  not: 'pas|jamais',
}

const es: Language = {
  person: '(?:una?\\s+)?(?:(?:ser )?humano|persona|agente|emplead[oa]|asesora?|operadora?|alguien)',
  asks: (person) => `(?:hablar|chatear|contactar|comunicarme)${between(2)}${person}`,
  not: 'no\\s+(?:quiero|deseo|necesito)|nunca',
}

const no: Language = {
  person: '(?:e[nt]\\s+)?(?:ekte\\s+)?(?:menneske|person|ansatt|kollega|medarbeider|kunderådgiver|noen)',
  asks: (person) => `(?:snakke|prate|chatte)${between(2)}${person}`,
  not: 'ikke|aldri',
}

const please = "please|bitte|s['’]il vous plaît|por favor|takk"

const patterns = [en, de, fr, es, no].map(({ person, asks, not }) => ({
  alone: new RegExp(`^[^\\p{L}]*${person}(?:[\\s,]+(?:${please}))?[^\\p{L}]*$`, 'iu'),
  asks: new RegExp(`${before}${asks(person)}${after}`, 'iu'),
  not: new RegExp(`${before}(?:${not})${after}`, 'iu'),
}))

export const isForPerson = (text: string): boolean =>
  text.length <= MAX_LENGTH &&
  patterns.some(({ alone, asks, not }) => (alone.test(text) || asks.test(text)) && !not.test(text))
