import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { queryClient } from './api.ts'
import type { FeaturePage } from './features/feature.ts'
import { features } from './features/registry.ts'
import { meQuery } from './session.tsx'
import { NotFound } from './shell/not-found.tsx'
import { PageFailed } from './shell/page-failed.tsx'
import { Shell, Waiting } from './shell/shell.tsx'

// The features list their own pages; each page is a separate chunk.

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  pendingComponent: Waiting,
  beforeLoad: async ({ location }) => {
    if (await queryClient.ensureQueryData(meQuery)) return
    throw redirect({
      to: '/sign-in',
      search: (location.href === '/' ? {} : { return_to: location.href }) as never,
      replace: true,
    })
  },
})

const lazy = ({ page: [load, name] }: FeaturePage) =>
  lazyRouteComponent(load as () => Promise<Record<string, never>>, name)

const inside = features
  .flatMap(({ pages }) => pages)
  .map((page) => createRoute({ getParentRoute: () => shell, path: page.path, component: lazy(page) }))

const wayIn: FeaturePage[] = [
  { path: '/sign-in', page: [() => import('./features/account/sign-in.tsx'), 'SignInPage'] },
  { path: '/sign-up', page: [() => import('./features/account/sign-up.tsx'), 'SignUpPage'] },
  { path: '/forgot-password', page: [() => import('./features/account/mailed-links.tsx'), 'ForgotPasswordPage'] },
  { path: '/reset-password/$token', page: [() => import('./features/account/mailed-links.tsx'), 'ResetPasswordPage'] },
  {
    path: '/confirm-account/$token',
    page: [() => import('./features/account/mailed-links.tsx'), 'ConfirmAccountPage'],
  },
  { path: '/confirm-email/$token', page: [() => import('./features/account/mailed-links.tsx'), 'ConfirmEmailPage'] },
  { path: '/answer/$token', page: [() => import('./features/answer/answer.tsx'), 'AnswerPage'] },
  { path: '/invitations/$token', page: [() => import('./features/account/invitation.tsx'), 'InvitationPage'] },
]
const outside = wayIn.map((page) => createRoute({ getParentRoute: () => root, path: page.path, component: lazy(page) }))

export const router = createRouter({
  routeTree: root.addChildren([shell.addChildren(inside), ...outside]),
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
  // Plain text in addresses: ?status=failed, not ?status=%22failed%22.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const kept = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '')
    const text = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
})
