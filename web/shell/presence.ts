import { useEffect } from 'react'
import { api, invalidate } from '#web/api.ts'

// What colleagues see of oneself. It holds for a minute, so it is said again while a page of the console is to be seen, wherever
// in it one is. Of several tabs only the one that is looked at speaks: one person has one presence in a workspace.

export type Status = 'online' | 'away' | 'busy' | 'offline'

const RENEW_EVERY = 25_000
const KEY = 'heddle.presence'

const isStatus = (text: string | null): text is Status =>
  text === 'online' || text === 'away' || text === 'busy' || text === 'offline'

/** Chosen in any tab of this browser; a browser without storage is online. */
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

/** A pointer is told at most this often. */
const POINT_EVERY = 1_000
let isPointing = false

/** Where on the canvas one points; for a page that others look at too. */
export function pointAt(pointer: Pointer): void {
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
    // Said again in a moment.
  }
}

export async function choosePresence(status: Status): Promise<void> {
  try {
    localStorage.setItem(KEY, status)
  } catch {
    // Without storage the choice holds until the next renewal.
  }
  await api.recordPresence({ status, context: place })
  await invalidate('listColleagues')
}

/** For the shell: says it at once, then again and again, and when the page is looked at again. */
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

/** For a page: colleagues see that one is at this workflow while it is open. */
export function usePlace(workflow_id: string): void {
  useEffect(() => {
    place = { workflow_id }
    void say()
    return () => {
      place = null
      void say()
    }
  }, [workflow_id])
}
