import { useEffect } from 'react'
import { api, invalidate } from '#web/api.ts'

// The presence of this user for colleagues. It expires after a minute, so it is renewed while any page of the console
// is visible. Of several tabs only the visible one reports: a user has one presence in a workspace.

export type Status = 'online' | 'away' | 'busy' | 'offline'

const RENEW_EVERY = 25_000
const KEY = 'heddle.presence'

const isStatus = (text: string | null): text is Status =>
  text === 'online' || text === 'away' || text === 'busy' || text === 'offline'

/** Returns the status chosen in any tab of this browser; a browser without storage is online. */
function chosen(): Status {
  try {
    const kept = localStorage.getItem(KEY)
    return isStatus(kept) ? kept : 'online'
  } catch {
    return 'online'
  }
}

type Pointer = { x: number; y: number; path: string }
let place: { workflow_id: string; pointer?: Pointer } | null = null

/** The minimum interval between two reports of the pointer, in ms. */
const POINT_EVERY = 1_000
let isPointing = false

/** Reports the pointer position on the canvas, for a page that others view too. */
export function reportPointer(pointer: Pointer): void {
  if (place === null) return
  place = { ...place, pointer }
  if (isPointing) return
  isPointing = true
  setTimeout(() => {
    isPointing = false
    void say()
  }, POINT_EVERY)
}

async function say(): Promise<void> {
  if (document.visibilityState !== 'visible') return
  try {
    await api.recordPresence({ status: chosen(), context: place })
  } catch {
    // The next renewal reports it again.
  }
}

export async function choosePresence(status: Status): Promise<void> {
  try {
    localStorage.setItem(KEY, status)
  } catch {
    // Without storage the choice lasts until the next renewal.
  }
  await api.recordPresence({ status, context: place })
  await invalidate('listColleagues')
}

/** For the shell: reports the presence at once, then at an interval, and when the page becomes visible again. */
export function useRenewedPresence(workspaceId: string | undefined): void {
  useEffect(() => {
    if (workspaceId === undefined) return
    void say()
    const timer = setInterval(say, RENEW_EVERY)
    document.addEventListener('visibilitychange', say)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', say)
    }
  }, [workspaceId])
}

/** For a page: shows colleagues that the user has this workflow open. */
export function useOpenWorkflowPresence(workflow_id: string): void {
  useEffect(() => {
    place = { workflow_id }
    void say()
    return () => {
      place = null
      void say()
    }
  }, [workflow_id])
}
