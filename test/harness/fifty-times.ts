import type { Answer } from './call.ts'

/** Fifty requests at once. A busy service tells some to come back (503), before it has done anything for them: they do. */
export function fiftyTimes(ask: (n: number) => Promise<Answer>): Promise<Answer[]> {
  const untilServed = async (n: number): Promise<Answer> => {
    const answer = await ask(n)
    return answer.status === 503 ? untilServed(n) : answer
  }
  return Promise.all(Array.from({ length: 50 }, (_, n) => untilServed(n)))
}
