import { invalid, problem } from '#platform/errors'
import type { Card } from '../index.ts'

// The built-in provider moves no money, so it accepts no real card, only well-known test card numbers.

export type StoredCard = {
  brand: string
  last4: string
  exp_month: number
  exp_year: number
  charge: 'pays' | 'declines'
}

type TestCard = { brand: string; setup: 'works' | 'declined' | 'confirm'; charge: 'pays' | 'declines' }

const testCards: Record<string, TestCard> = {
  '4242424242424242': { brand: 'visa', setup: 'works', charge: 'pays' },
  '5555555555554444': { brand: 'mastercard', setup: 'works', charge: 'pays' },
  '378282246310005': { brand: 'amex', setup: 'works', charge: 'pays' },
  '4000000000000002': { brand: 'visa', setup: 'declined', charge: 'declines' },
  '4000002500003155': { brand: 'visa', setup: 'confirm', charge: 'pays' },
  // This card can be stored, but every charge fails. It serves to try out past-due subscriptions.
  '4000000000000341': { brand: 'visa', setup: 'works', charge: 'declines' },
}

/** Checks the last digit of a card number, which is a checksum of the other digits. */
function checksOut(number: string): boolean {
  const sum = [...number].reverse().reduce((total, letter, at) => {
    const digit = Number(letter) * (at % 2 === 1 ? 2 : 1)
    return total + (digit > 9 ? digit - 9 : digit)
  }, 0)
  return sum % 10 === 0
}

/**
 * Returns only the details of a card that may be stored. The number and the security code never leave this function.
 */
export function examineCard(card: Card, now: Date): { stored: StoredCard; setup: TestCard['setup'] } {
  if (!checksOut(card.number)) throw invalid([{ path: '/card/number', message: 'is not a card number' }])
  const expired =
    card.exp_year < now.getUTCFullYear() ||
    (card.exp_year === now.getUTCFullYear() && card.exp_month < now.getUTCMonth() + 1)
  if (expired) throw invalid([{ path: '/card/exp_year', message: 'the card has expired' }])
  const known = testCards[card.number]
  if (!known) throw problem('card_declined', 'Built-in billing takes test cards only, such as 4242 4242 4242 4242.')
  const { brand, setup, charge } = known
  return {
    stored: { brand, last4: card.number.slice(-4), exp_month: card.exp_month, exp_year: card.exp_year, charge },
    setup,
  }
}
