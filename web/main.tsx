import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api.ts'
import './app.css'
import { router } from './router.tsx'
import { showTheme } from './shell/theme.ts'
import { ToastHost } from './ui/toast-host.tsx'

showTheme()

// After an update of the service the chunks of this page no longer exist: the page is reloaded to get the new chunks.
window.addEventListener('vite:preloadError', () => {
  const last = Number(sessionStorage.getItem('heddle.reloaded') ?? 0)
  if (Date.now() - last < 10_000) return
  sessionStorage.setItem('heddle.reloaded', String(Date.now()))
  location.reload()
})

createRoot(document.getElementById('console')!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <ToastHost />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
