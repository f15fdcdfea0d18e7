import { WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLiveNotifications } from './live-notifications.tsx'

/** A shorter interruption is not reported: the feed usually reconnects by itself within a moment. */
const PATIENCE_MS = 4_000

/** Tells the user that the service is unreachable; typed text stays in place. */
export function OfflineSign() {
  const { state } = useLiveNotifications()
  const [wasLive, setWasLive] = useState(false)
  const [isLost, setIsLost] = useState(false)
  const lost = wasLive && state === 'lost'
  useEffect(() => {
    if (state === 'live') setWasLive(true)
  }, [state])
  useEffect(() => {
    if (!lost) {
      setIsLost(false)
      return
    }
    const timer = setTimeout(() => setIsLost(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [lost])
  return (
    <div role="status">
      {isLost && (
        <p className="flex items-center gap-2 border-b border-line bg-waiting-soft px-4 py-2 text-waiting">
          <WifiOff aria-hidden className="size-4 shrink-0" />
          Cannot reach the service. Trying again; your input is kept on this page.
        </p>
      )}
    </div>
  )
}
