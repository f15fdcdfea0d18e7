import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The longest files, which start first. Without timings of earlier runs they would start last and delay the end of the
 * run.
 */
const slow = [
  /e2e\/every-page/,
  /test\/(e2e|lifecycle|access)/,
  /speech|chaos|jobs|feed|crash|killed|live|sandbox|warehouse/,
]

/** This file changes the clock of its process, so no other file should use the shared service after it. */
const last = /test\/clock/

/**
 * The projects in their order. Small files are last: they fill the time of a worker that is idle while the other runs a
 * long file.
 */
const projects = ['slow', 'journeys', 'browser', 'models', 'service', 'unit', 'console']

/**
 * Checks whether a file uses a shared service. Such files run one after another, because the shared service stops when
 * a file starts its own.
 */
const sharesService = (moduleId: string): boolean => readFileSync(moduleId, 'utf8').includes('useSharedService(')

const rank = ({ moduleId }: TestSpecification): number => {
  if (last.test(moduleId)) return slow.length + 2
  if (sharesService(moduleId)) return slow.length
  const found = slow.findIndex((pattern) => pattern.test(moduleId))
  return found === -1 ? slow.length + 1 : found
}

const place = ({ project }: TestSpecification): number => projects.indexOf(project.name)

/** Sorts by project, because a process is reused only for files of the same project. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b) || rank(a) - rank(b))
  }
}
