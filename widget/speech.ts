import { useRef, useState } from 'preact/hooks'
import { t } from './words.ts'

/**
 * Formats that the service accepts. Safari records only mp4, which the service does not accept, so the microphone is
 * not offered there.
 */
const recordable = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/webm']

const formatHere = (): string | undefined =>
  typeof MediaRecorder === 'undefined' || !navigator.mediaDevices
    ? undefined
    : recordable.find((type) => MediaRecorder.isTypeSupported(type))

export function useMicrophone(onClip: (clip: Blob) => void, onProblem: (text: string) => void) {
  const recorder = useRef<MediaRecorder | null>(null)
  const [recording, setRecording] = useState(false)
  const format = formatHere()

  async function toggle(): Promise<void> {
    if (recorder.current) return recorder.current.stop()
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
      const chunks: Blob[] = []
      const current = new MediaRecorder(stream, { mimeType: format! })
      current.ondataavailable = ({ data }) => chunks.push(data)
      current.onstop = () => {
        for (const track of stream.getTracks()) track.stop()
        recorder.current = null
        setRecording(false)
        if (chunks.length > 0) onClip(new Blob(chunks, { type: current.mimeType }))
      }
      recorder.current = current
      current.start()
      setRecording(true)
    } catch {
      onProblem(t('Cannot use the microphone. Allow it in the browser, or type.'))
    }
  }

  return { available: format !== undefined, recording, toggle }
}

/**
 * Plays the messages of the assistant one after the other; if the browser forbids sound before a click, nothing is
 * played.
 */
export function makeSpeaker(fetchAudio: (text: string) => Promise<Blob>) {
  let last: Promise<void> = Promise.resolve()
  let on = false
  return {
    set(enabled: boolean): void {
      on = enabled
    },
    say(text: string): void {
      if (!on) return
      last = last.then(async () => {
        try {
          const url = URL.createObjectURL(await fetchAudio(text))
          const audio = new Audio(url)
          await audio.play()
          await new Promise((resolve) => {
            audio.onended = resolve
            audio.onerror = resolve
          })
          URL.revokeObjectURL(url)
        } catch {
          // Speech is optional; the text is still shown.
        }
      })
    },
  }
}
