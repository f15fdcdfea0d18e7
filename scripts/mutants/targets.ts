/** What is mutated, and the tests that must notice. Only tests of the project `unit`: they take seconds. */
export type Target = { name: string; files: string[]; tests: string[] }

export const targets: Target[] = [
  {
    name: 'interpreter',
    files: ['server/engine/interpreter/*.ts'],
    tests: ['server/engine/interpreter/'],
  },
  {
    name: 'expressions',
    files: ['model/cel*.ts', 'model/expressions.ts', 'model/reference.ts', 'model/pattern.ts'],
    tests: ['model/'],
  },
  {
    name: 'schemas',
    files: ['model/json*.ts', 'model/canonical.ts'],
    tests: ['model/'],
  },
  {
    name: 'graphs',
    files: ['model/graph*.ts'],
    tests: ['model/'],
  },
  {
    name: 'approvals',
    files: ['model/approval.ts', 'model/quorum.ts'],
    tests: ['model/'],
  },
]
