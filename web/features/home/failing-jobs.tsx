/** Jobs that failed or paused themselves. */
export const FailingJobs = () => null
