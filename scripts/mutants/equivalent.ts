/** A mutant that no test can detect, because the program behaves the same with it. */
export type Equivalent = { file: string; line: string; what: string; why: string }

/**
 * `line` is the source line without indentation; `what` is printed with a surviving mutant. A person has reviewed each
 * entry.
 */
export const equivalents: Equivalent[] = [
  {
    file: 'server/platform/access/rules.ts',
    line: 'const rank: Record<AccessLevel, number> = { visible: 0, viewer: 1, member: 2, editor: 3, owner: 4 }',
    what: '4 becomes 5',
    why: 'Only the order of the ranks counts, and an owner stays the highest.',
  },
  {
    file: 'server/engine/interpreter/activate.ts',
    line: "if (typeof args.for_s === 'number' && Number.isFinite(args.for_s)) return pass.at + Math.max(0, args.for_s * 1000)",
    what: 'without "&& Number.isFinite(args.for_s)"',
    why: 'The schema of a wait, which is checked before, allows finite numbers only.',
  },
  {
    file: 'server/engine/interpreter/activate.ts',
    line: "if (typeof args.for_s === 'number' && Number.isFinite(args.for_s)) return pass.at + Math.max(0, args.for_s * 1000)",
    what: 'without "typeof args.for_s === \'number\' &&"',
    why: 'Number.isFinite is false for everything that is no number.',
  },
  {
    file: 'server/providers/billing/builtin/bill.ts',
    line: "description: used > 0 ? 'Paid from credit' : 'Kept as credit for later invoices',",
    what: '> becomes >=',
    why: 'Where nothing of the credit is used, there is no such line.',
  },
  {
    file: 'server/providers/billing/builtin/periods.ts',
    line: 'moved.setUTCDate(1)',
    what: '1 becomes 2',
    why: 'Any day that every month has keeps the months from running over.',
  },
  {
    file: 'model/approval.ts',
    line: "if (votes.some((vote) => vote.decision === 'reject' && vote.role != null && policy.veto.includes(vote.role)))",
    what: 'without "&& vote.role != null"',
    why: 'The types ask for it: no list of roles holds null.',
  },
  {
    file: 'model/quorum.ts',
    line: 'const names = inner.length === 0 ? local : new Set([...local, ...inner])',
    what: 'always the second choice',
    why: 'A copy of the set is the same set.',
  },
]
