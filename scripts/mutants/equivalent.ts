/** A mutant that no test can notice, because the program does the same with it. */
export type Equivalent = { file: string; line: string; what: string; why: string }

/** `line` is the source line without its indentation; `what` is printed with a survivor. Each was looked at by a person. */
export const equivalents: Equivalent[] = [
  {
    file: 'server/platform/access/words.ts',
    line: 'const rank: Record<Standing, number> = { visible: 0, viewer: 1, member: 2, editor: 3, owner: 4 }',
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
]
