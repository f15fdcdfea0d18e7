import { randomBytes } from 'node:crypto'

/** Letters of a customer's invoice numbers, as in `K3F9QX7B-0001`; none that are taken for another. */
export const newInvoicePrefix = (): string =>
  [...randomBytes(8)].map((byte) => '23456789ABCDEFGHJKMNPQRSTVWXYZ'[byte % 30]).join('')
