/** Returns the body of a notice about a gate or question, if it has a due time. */
export const dueBody = (dueAt: Date | null): { body?: string } =>
  dueAt === null ? {} : { body: `Due ${dueAt.toISOString()}` }
