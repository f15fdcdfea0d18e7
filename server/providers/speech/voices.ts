import type { Voice } from './index.ts'

// The voices in flite.wasm that can speak any text. docs/speech.md lists their word error rates, measured by
// roundtrip.test.ts.
export const localVoices: Voice[] = [
  { id: 'slt', title: 'SLT, American, female', language: 'en' },
  { id: 'awb', title: 'AWB, Scottish, male', language: 'en' },
  { id: 'rms', title: 'RMS, American, male', language: 'en' },
  { id: 'kal16', title: 'KAL, American, male, plain and fast', language: 'en' },
]

export const DEFAULT_VOICE = 'awb'
