import type { Phrases } from './languages/index.ts'

// What somebody outside is told about people: who joined, who was told, when somebody answers.

/** `closed`: when somebody answers, where nobody is there now. */
export const handedOver = (say: Phrases, fresh: boolean, closed: string | null): string =>
  [fresh ? say.told : say.toldBefore, closed ?? say.theyAnswer].join(' ')

export const noAnswer = (say: Phrases, closed: string | null): string =>
  [say.cannotAnswer, say.toldAlone, closed ?? say.theyAnswer].join(' ')

export const joined = (say: Phrases, name: string | null): string => say.joined(name ?? say.aColleague)
