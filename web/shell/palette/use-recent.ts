import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { remember } from './recent.ts'

const TAIL = / · Heddle$/

/** Remembers pages by their own title, which is set a moment after the address. */
export function useRecentPages(userId: string, workspaceId: string | undefined): void {
  const { pathname } = useLocation()
  useEffect(() => {
    const title = document.querySelector('title')
    if (!title || workspaceId === undefined) return
    const observer = new MutationObserver(() => {
      if (TAIL.test(document.title))
        remember(userId, workspaceId, { to: pathname, title: document.title.replace(TAIL, '') })
    })
    observer.observe(title, { childList: true })
    return () => observer.disconnect()
  }, [pathname, userId, workspaceId])
}
