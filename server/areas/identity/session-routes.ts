import { anyone, signedIn } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import type { People } from './people.ts'
import { comesIn, extension } from './route-parts.ts'
import { endSessionsQuery, Me, NewPassword, Session, SignedInOrSecondFactor, SignIn, sessionList } from './schema.ts'
import type { Sessions } from './sessions.ts'

export const sessionRoutes = ({ people, sessions }: { people: People; sessions: Sessions }): AnyRoute[] =>
  routes(
    'Identity',
    {
      signIn: ['POST', '/auth/sign-in', anyone],
      signOut: ['POST', '/auth/sign-out', signedIn, 'none'],
      getMe: ['GET', '/auth/me', signedIn, 'none'],
      changePassword: ['POST', '/auth/password', signedIn, 'admin'],
      listSessions: ['GET', '/auth/sessions', signedIn],
      endSessions: ['DELETE', '/auth/sessions', signedIn, 'admin'],
      endSession: ['DELETE', '/auth/sessions/:session_id', signedIn, 'admin'],
    },
    {
      signIn: {
        ...comesIn,
        summary: 'Sign in; the previous session of the browser ends',
        description:
          'Anyone who has a second factor gets `second_factor_required` with a challenge and no session, and continues with `POST /auth/sign-in/second-factor`. Twenty wrong passwords or codes for one account from one address lock it for that address for 15 minutes (429), whether or not the account exists.',
        body: SignIn,
        answer: SignedInOrSecondFactor,
        rate: 'sign_in',
        examples: { body: { email: 'ann@example.com', password: 'correct horse battery' } },
        run: people.signIn,
      },
      signOut: { extension, idempotency: 'none', summary: 'End this session', status: 204, run: sessions.signOut },
      getMe: { extension, summary: 'Who is calling, and where', answer: Me, run: people.getMe },
      changePassword: {
        ...comesIn,
        summary: 'Change the password; every other session ends',
        body: NewPassword,
        status: 204,
        rate: 'sign_in',
        run: people.changePassword,
      },
      listSessions: {
        extension,
        summary: "The caller's sessions",
        query: sessionList.query,
        answer: page(Session),
        run: sessions.listSessions,
      },
      endSessions: {
        extension,
        summary: "End all the caller's sessions, or all but this one",
        query: endSessionsQuery,
        status: 204,
        run: sessions.endSessions,
      },
      endSession: {
        extension,
        summary: 'End one session',
        status: 204,
        current: sessions.getSession,
        run: sessions.endSession,
      },
    },
  )
