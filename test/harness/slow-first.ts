import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Without earlier runs to learn from, the longest files would be begun last and everybody would wait for them. */
const slow = [/e2e\/every-page/, /test\/(e2e|lifecycle|access)/, /speech|chaos|jobs|feed|crash|killed|live/]

const rank = ({ moduleId }: TestSpecification): number => {
  const found = slow.findIndex((pattern) => pattern.test(moduleId))
  return found === -1 ? slow.length : found
}

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
