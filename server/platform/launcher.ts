import { readFileSync } from 'node:fs'

// `npm start` runs the program through a shell. When npm is stopped, it ends the shell but not the program, which would
// continue unnoticed. So the program checks whether the shell and npm still exist.

const LOOK_EVERY = 250

/** Returns the parent of a process, if the system shows it. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

/**
 * Calls `gone` when the shell or the npm that started this program has ended. Never calls it if npm did not start the
 * program.
 */
export function onLauncherExit(gone: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const shell = process.ppid
  const npm = parentOf(shell)
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return
    clearInterval(timer)
    gone()
  }, LOOK_EVERY)
  timer.unref()
}
