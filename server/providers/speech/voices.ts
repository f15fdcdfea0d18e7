import type { Voice } from './index.ts'

// The voices inside flite.wasm that say any text. Word error rates of the round trip in roundtrip.test.ts stand in docs/speech.md.
export const localVoices: Voice[] = [
  { id: 'slt', title: 'Clara (American)', language: 'en' },
  { id: 'awb', title: 'Alan (Scottish)', language: 'en' },
  { id: 'rms', title: 'Robert (American)', language: 'en' },
  { id: 'kal16', title: 'Kevin (American, plain)', language: 'en' },
]

export const DEFAULT_VOICE = 'awb'
