import { readFileSync } from 'node:fs'

// `npm start` runs the program through a shell. When npm is told to end it ends the shell and not the program, which would
// go on without anybody knowing of it. So it looks whether they are still there.

const LOOK_EVERY = 250

/** The parent of a process, where the system shows it. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

/** Calls once the shell or the npm that started this program has gone; never where no npm did. */
export function onLauncherGone(gone: () => void): void {
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
