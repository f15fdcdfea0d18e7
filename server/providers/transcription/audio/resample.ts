// A windowed-sinc polyphase filter that accepts chunks of any length and converts any sample rate to 16 kHz.

const ZERO_CROSSINGS = 12

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))

const makePhases = (up: number, scale: number, half: number): Float32Array[] =>
  Array.from({ length: up }, (_, phase) => {
    const taps = new Float32Array(2 * half)
    let sum = 0
    for (let i = 0; i < taps.length; i++) {
      const distance = i - half + 1 - phase / up
      const x = distance * scale
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / half)
      const tap = Math.abs(distance) >= half ? 0 : window * (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))
      taps[i] = tap
      sum += tap
    }
    return taps.map((tap) => tap / sum)
  })

export type Resampler = { push(samples: Float32Array): Float32Array; end(): Float32Array }

export const makeResampler = (from: number, to: number): Resampler => {
  if (from === to) return { push: (samples) => samples, end: () => new Float32Array(0) }
  const divisor = greatestCommonDivisor(from, to)
  const [up, down] = [to / divisor, from / divisor]
  const scale = Math.min(1, to / from)
  const half = Math.ceil(ZERO_CROSSINGS / scale)
  const phases = makePhases(up, scale, half)
  let held = new Float32Array(half - 1)
  let position = 0 // of the next output sample, in steps of 1/up of an input sample from the start of `held` plus half - 1

  const push = (samples: Float32Array): Float32Array => {
    const input = new Float32Array(held.length + samples.length)
    input.set(held)
    input.set(samples, held.length)
    const usable = (input.length - 2 * half + 1) * up
    const output = new Float32Array(Math.max(0, Math.ceil((usable - position) / down)))
    for (let n = 0; n < output.length; n++) {
      const taps = phases[position % up] as Float32Array
      const start = Math.floor(position / up)
      let sum = 0
      for (let i = 0; i < taps.length; i++) sum += (taps[i] as number) * (input[start + i] as number)
      output[n] = sum
      position += down
    }
    const done = Math.min(Math.floor(position / up), input.length)
    held = input.slice(done)
    position -= done * up
    return output
  }
  return { push, end: () => push(new Float32Array(half)) }
}
