import { loudness, SAMPLE_RATE } from './audio/decode.ts'

// The model transcribes a few seconds at a time and invents words in silence. So pauses are removed, and speech is cut
// at its quietest points into windows of at most 20 s.

const FRAME = SAMPLE_RATE / 50
const LONGEST = 20 * 50
const EARLIEST_CUT = 8 * 50
const PAUSE = 50 // one second of quiet between words ends a stretch
const MARGIN = 12 // a quarter of a second kept around speech

const quietLevel = (levels: Float32Array): number => {
  const sorted = levels.toSorted()
  const loud = sorted[Math.floor(sorted.length * 0.95)] as number
  return Math.max(10 ** (-50 / 20), loud * 0.03)
}

type Stretch = { from: number; to: number }

const stretchesOf = (levels: Float32Array): Stretch[] => {
  const quiet = quietLevel(levels)
  const stretches: Stretch[] = []
  levels.forEach((level, frame) => {
    if (level <= quiet) return
    const last = stretches.at(-1)
    if (last && frame - last.to < PAUSE) last.to = frame + 1
    else stretches.push({ from: frame, to: frame + 1 })
  })
  return stretches.map(({ from, to }) => ({
    from: Math.max(0, from - MARGIN),
    to: Math.min(levels.length, to + MARGIN),
  }))
}

const quietestFrame = (levels: Float32Array, from: number, to: number): number => {
  let best = to
  let lowest = Number.POSITIVE_INFINITY
  for (let frame = from; frame <= to; frame++) {
    let sum = 0
    for (let near = frame - 5; near <= frame + 5; near++) sum += levels[near] ?? 0
    if (sum <= lowest) [lowest, best] = [sum, frame]
  }
  return best
}

export const cutWindows = (samples: Float32Array): Float32Array[] => {
  const levels = loudness(samples)
  const windows: Float32Array[] = []
  for (const { from, to } of stretchesOf(levels)) {
    let start = from
    while (to - start > LONGEST) {
      const cut = quietestFrame(levels, start + EARLIEST_CUT, start + LONGEST)
      windows.push(samples.subarray(start * FRAME, cut * FRAME))
      start = cut
    }
    windows.push(samples.subarray(start * FRAME, to * FRAME))
  }
  return windows
}

/** Cuts a window at the quietest point of its middle half. */
export const cutInTwo = (window: Float32Array): Float32Array[] => {
  const levels = loudness(window)
  const cut = quietestFrame(levels, Math.floor(levels.length / 4), Math.ceil((levels.length * 3) / 4)) * FRAME
  return [window.subarray(0, cut), window.subarray(cut)]
}
