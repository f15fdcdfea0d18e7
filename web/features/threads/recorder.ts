import { useEffect, useRef, useState } from 'react'

// Records a voice message from the microphone, in a format that the service accepts.

const formats = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/webm']
const LONGEST = 5 * 60_000

export type Recording =
  | { state: 'idle' }
  | { state: 'recording'; since: number }
  | { state: 'done'; clip: Blob; url: string }

export function useRecorder(onFailed: (why: string) => void) {
  const [recording, setRecording] = useState<Recording>({ state: 'idle' })
  const recorder = useRef<MediaRecorder | null>(null)
  const url = recording.state === 'done' ? recording.url : null
  useEffect(() => () => void (url && URL.revokeObjectURL(url)), [url])
  useEffect(
    () => () => {
      for (const track of recorder.current?.stream.getTracks() ?? []) track.stop()
    },
    [],
  )

  const start = async (): Promise<void> => {
    const mimeType =
      typeof MediaRecorder === 'undefined' ? undefined : formats.find((format) => MediaRecorder.isTypeSupported(format))
    if (!navigator.mediaDevices || mimeType === undefined) {
      onFailed(
        window.isSecureContext
          ? 'This browser cannot record in a supported format.'
          : 'Recording requires an https page or localhost.',
      )
      return
    }
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
      const made = new MediaRecorder(stream, { mimeType })
      const parts: Blob[] = []
      made.ondataavailable = ({ data }) => parts.push(data)
      const limit = setTimeout(() => made.state === 'recording' && made.stop(), LONGEST)
      made.onstop = () => {
        clearTimeout(limit)
        for (const track of stream.getTracks()) track.stop()
        const clip = new Blob(parts, { type: mimeType.split(';')[0]! })
        setRecording({ state: 'done', clip, url: URL.createObjectURL(clip) })
      }
      recorder.current = made
      made.start()
      setRecording({ state: 'recording', since: Date.now() })
    } catch {
      onFailed('Cannot use the microphone. Allow it for this page and try again.')
    }
  }
  return {
    recording,
    start,
    stop: (): void => recorder.current?.stop(),
    discard: (): void => setRecording({ state: 'idle' }),
  }
}
