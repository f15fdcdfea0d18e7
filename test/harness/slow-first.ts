import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Without earlier runs to learn from, the longest files would be begun last and everybody would wait for them. */
const slow = [
  /e2e\/every-page/,
  /test\/(e2e|lifecycle|access)/,
  /speech|chaos|jobs|feed|crash|killed|live|sandbox|warehouse/,
]

/** It changes the clock of its process, whose shared service nobody should use after that. */
const last = /test\/clock/

/** Small files last: they fill the time of a worker that is done while the other one is at a long file. */
const projects = ['slow', 'journeys', 'browser', 'models', 'service', 'unit', 'console']

/** One after another, because the service that they share ends when a file with one of its own begins. */
const sharesService = (moduleId: string): boolean => readFileSync(moduleId, 'utf8').includes('useSharedService(')

const rank = ({ moduleId }: TestSpecification): number => {
  if (last.test(moduleId)) return slow.length + 2
  if (sharesService(moduleId)) return slow.length
  const found = slow.findIndex((pattern) => pattern.test(moduleId))
  return found === -1 ? slow.length + 1 : found
}

const place = ({ project }: TestSpecification): number => projects.indexOf(project.name)

/** Project by project, because a process is handed on only between files of the same project. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b) || rank(a) - rank(b))
  }
}
