import type { Voice } from './index.ts'

// The voices inside flite.wasm that say any text. Word error rates of the round trip in roundtrip.test.ts stand in docs/speech.md.
export const localVoices: Voice[] = [
  { id: 'slt', title: 'SLT, American, female', language: 'en' },
  { id: 'awb', title: 'AWB, Scottish, male', language: 'en' },
  { id: 'rms', title: 'RMS, American, male', language: 'en' },
  { id: 'kal16', title: 'KAL, American, male, plain and fast', language: 'en' },
]

export const DEFAULT_VOICE = 'awb'
