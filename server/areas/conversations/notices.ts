import type { Phrases } from './languages/index.ts'

// What a person outside is told about colleagues: who joined, who was notified, and when people answer.

/** `closed` says when people answer, if no colleague answers now. */
export const handedOver = (say: Phrases, fresh: boolean, closed: string | null): string =>
  [fresh ? say.told : say.toldBefore, closed ?? say.theyAnswer].join(' ')

export const noAnswer = (say: Phrases, closed: string | null): string =>
  [say.cannotAnswer, say.toldAlone, closed ?? say.theyAnswer].join(' ')

export const joined = (say: Phrases, name: string | null): string => say.joined(name ?? say.aColleague)
