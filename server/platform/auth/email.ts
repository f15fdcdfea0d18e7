import { domainToASCII } from 'node:url'

/**
 * One spelling per address, so that neither letter case nor a look-alike from another block makes a second account:
 * compatibility forms are folded, letters are small, the domain is in its ASCII form. What remains is checked by the schema.
 */
export function normaliseEmail(text: string): string {
  const folded = text.normalize('NFKC').trim().toLowerCase()
  const at = folded.lastIndexOf('@')
  if (at === -1) return folded
  return `${folded.slice(0, at)}@${domainToASCII(folded.slice(at + 1))}`
}

/** The reserved addresses of HEDDLE_OPERATORS, in the spelling accounts have. */
export const operatorAddresses = (operators: readonly string[]): ReadonlySet<string> =>
  new Set(operators.map(normaliseEmail))
