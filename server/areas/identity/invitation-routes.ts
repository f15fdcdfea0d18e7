import { anyone } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import type { Accepting } from './accept.ts'
import { comesIn, extension } from './route-parts.ts'
import { Accepted, AcceptInvitation, InvitationPreview } from './schema.ts'

export const invitationRoutes = (accepting: Accepting): AnyRoute[] =>
  routes(
    'Identity',
    {
      previewInvitation: ['GET', '/auth/invitations/:token', anyone],
      acceptInvitation: ['POST', '/auth/invitations/:token/accept', anyone, 'admin'],
    },
    {
      previewInvitation: {
        extension,
        summary: 'What an invitation is for',
        answer: InvitationPreview,
        run: accepting.previewInvitation,
      },
      acceptInvitation: {
        ...comesIn,
        summary: 'Accept an invitation, signed in or with a new account',
        description:
          'Signed in with the invited address send `{}` (200). A new person sends `name` and `password` and gets a session (201), also where sign-up is closed.',
        body: AcceptInvitation,
        answer: Accepted,
        status: 201,
        alsoStatus: [200],
        rate: 'sign_up',
        location: () => '/auth/me',
        allowed: accepting.mayAccept,
        run: accepting.acceptInvitation,
      },
    },
  )
