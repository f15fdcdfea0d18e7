/**
 * The files to mutate, and the tests that must detect the mutants. Only tests without a database, because they take
 * seconds.
 */
export type Target = { name: string; files: string[]; tests: string[] }

const MODEL_TESTS = ['model/*.test.ts']

export const targets: Target[] = [
  {
    name: 'interpreter',
    files: ['server/engine/interpreter/*.ts'],
    tests: ['server/engine/interpreter/*.test.ts'],
  },
  {
    name: 'expressions',
    files: ['model/cel*.ts', 'model/expression*.ts', 'model/reference.ts', 'model/pattern.ts', 'model/lru.ts'],
    tests: MODEL_TESTS,
  },
  { name: 'schemas', files: ['model/json*.ts', 'model/canonical.ts', 'model/size.ts'], tests: MODEL_TESTS },
  { name: 'graphs', files: ['model/graph*.ts', 'model/credential-ids.ts', 'model/node.ts'], tests: MODEL_TESTS },
  { name: 'access', files: ['server/platform/access/*.ts'], tests: ['server/platform/access/*.test.ts'] },
  { name: 'votes', files: ['model/approval.ts', 'model/quorum.ts'], tests: MODEL_TESTS },
  {
    name: 'tally',
    files: ['server/areas/approvals/{tally,policy,excluded}.ts'],
    tests: ['server/areas/approvals/tally.test.ts'],
  },
  {
    name: 'job ledger',
    files: ['server/areas/jobs/ledger/{errors,ids,pages,progress,run-limits}.ts', 'server/areas/jobs/recipe.ts'],
    tests: ['server/areas/jobs/ledger/rules.test.ts'],
  },
  {
    name: 'billing ledger',
    files: ['server/providers/billing/builtin/{bill,periods}.ts'],
    tests: ['server/providers/billing/builtin/*.test.ts'],
  },
  {
    name: 'quotas',
    files: ['server/areas/payments/counting.ts'],
    tests: ['server/areas/payments/counting.test.ts'],
  },
]
