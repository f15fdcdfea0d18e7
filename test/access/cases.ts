import { companyCases } from './companies.ts'
import type { Cases } from './matrix.ts'

/** Every area's cases. A new operation is added to its area's file. */
export const cases: Cases = {
  ...companyCases,
}
