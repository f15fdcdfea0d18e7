import { domainToASCII } from 'node:url'

/**
 * Returns one spelling per address, so that neither letter case nor a look-alike from another Unicode block creates a
 * second account. Folds compatibility forms, lowercases letters and converts the domain to ASCII. The schema checks the
 * result.
 */
export function normaliseEmail(text: string): string {
  const folded = text.normalize('NFKC').trim().toLowerCase()
  const at = folded.lastIndexOf('@')
  if (at === -1) return folded
  return `${folded.slice(0, at)}@${domainToASCII(folded.slice(at + 1))}`
}

/** The reserved addresses of HEDDLE_OPERATORS, in the spelling that accounts use. */
export const operatorAddresses = (operators: readonly string[]): ReadonlySet<string> =>
  new Set(operators.map(normaliseEmail))
