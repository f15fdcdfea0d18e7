import { lazy, Suspense, useEffect, useState } from 'react'
import { whenToastNeeded } from './toast.tsx'

const Toaster = lazy(() => import('./toaster.tsx').then((module) => ({ default: module.Toaster })))

export function ToastHost() {
  const [needed, setNeeded] = useState(false)
  useEffect(() => whenToastNeeded(() => setNeeded(true)), [])
  if (!needed) return null
  return (
    <Suspense>
      <Toaster />
    </Suspense>
  )
}
