import type { Answer } from './call.ts'

/**
 * Sends fifty requests at once. A busy service refuses some of them with 503 before it does any work; those are
 * repeated.
 */
export function fiftyTimes(ask: (n: number) => Promise<Answer>): Promise<Answer[]> {
  const untilServed = async (n: number): Promise<Answer> => {
    const answer = await ask(n)
    return answer.status === 503 ? untilServed(n) : answer
  }
  return Promise.all(Array.from({ length: 50 }, (_, n) => untilServed(n)))
}
