import { randomBytes } from 'node:crypto'

/**
 * Returns the prefix of a customer's invoice numbers, as in `K3F9QX7B-0001`, without characters that are easily
 * confused.
 */
export const newInvoicePrefix = (): string =>
  [...randomBytes(8)].map((byte) => '23456789ABCDEFGHJKMNPQRSTVWXYZ'[byte % 30]).join('')
