import { z } from 'zod'
import { anyone, signedIn } from '#platform/access/words'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { listQuery, page } from '#platform/http/schema'
import type { Accepting } from './accept.ts'
import type { ApiKeys } from './api-keys.ts'
import {
  addPasskey,
  beginPasskey,
  beginTotp,
  confirmTotp,
  getSecondFactors,
  removePasskey,
  removeTotp,
  renewRecoveryCodes,
} from './factors.ts'
import { sendsMail } from './mail.ts'
import type { Oidc } from './oidc.ts'
import { beginPasskeySignIn, finishPasskeySignIn } from './passkey-sign-in.ts'
import { forgotPassword, resetPassword } from './password-reset.ts'
import type { People } from './people.ts'
import {
  Accepted,
  AcceptInvitation,
  AddedPasskey,
  ApiKey,
  AuthOptions,
  BegunPasskey,
  BegunPasskeySignIn,
  BegunTotp,
  CheckMail,
  ConfirmEmail,
  ConfirmSignUp,
  ConfirmTotp,
  CreatedApiKey,
  endSessionsQuery,
  ForgotPassword,
  InvitationPreview,
  Me,
  NewApiKey,
  NewPasskey,
  NewPassword,
  OidcProviders,
  PasskeySignIn,
  PasswordAgain,
  RecoveryCodes,
  ResetPassword,
  returnTo,
  SecondFactor,
  SecondFactorChallenge,
  SecondFactorRequired,
  SecondFactors,
  Session,
  SignedIn,
  SignedInOrCheckMail,
  SignedInOrSecondFactor,
  SignIn,
  SignUp,
} from './schema.ts'
import { describeSecondFactor, type FactorDeps, finishSignIn } from './second-factor.ts'
import type { Sessions } from './sessions.ts'
import { type AccountMail, confirmSignUp } from './sign-up.ts'
import { confirmEmail, sendVerification } from './verification.ts'

type Services = {
  accountMail: AccountMail
  factors: FactorDeps
  people: People
  sessions: Sessions
  apiKeys: ApiKeys
  accepting: Accepting
  oidc: Oidc
}

const extension = true
// Answers that begin a session are not stored for repetition: the store would hold the session's token.
const comesIn = { extension, transaction: false, idempotency: 'none' } as const

const bound =
  <Deps, Input, Answer>(
    deps: Deps,
    verb: (deps: Deps, ctx: Context, input: Input, exchange: Exchange) => Promise<Answer>,
  ) =>
  (ctx: Context, input: Input, exchange: Exchange): Promise<Answer> =>
    verb(deps, ctx, input, exchange)

export const identityRoutes = ({
  accountMail,
  factors,
  people,
  sessions,
  apiKeys,
  accepting,
  oidc,
}: Services): AnyRoute[] =>
  routes(
    'Identity',
    {
      signUp: ['POST', '/auth/sign-up', anyone],
      getAuthOptions: ['GET', '/auth/options', anyone],
      confirmSignUp: ['POST', '/auth/sign-up/confirm', anyone],
      sendVerification: ['POST', '/auth/verification', signedIn, 'admin'],
      confirmEmail: ['POST', '/auth/verification/confirm', anyone],
      forgotPassword: ['POST', '/auth/password/forgot', anyone],
      resetPassword: ['POST', '/auth/password/reset', anyone],
      signIn: ['POST', '/auth/sign-in', anyone],
      finishSignIn: ['POST', '/auth/sign-in/second-factor', anyone],
      describeSecondFactor: ['POST', '/auth/sign-in/second-factor/options', anyone],
      beginPasskeySignIn: ['POST', '/auth/sign-in/passkey/options', anyone],
      finishPasskeySignIn: ['POST', '/auth/sign-in/passkey', anyone],
      getSecondFactors: ['GET', '/auth/second-factor', signedIn],
      beginTotp: ['POST', '/auth/second-factor/totp', signedIn, 'admin'],
      confirmTotp: ['POST', '/auth/second-factor/totp/confirm', signedIn, 'admin'],
      removeTotp: ['POST', '/auth/second-factor/totp/remove', signedIn, 'admin'],
      renewRecoveryCodes: ['POST', '/auth/second-factor/recovery-codes', signedIn, 'admin'],
      beginPasskey: ['POST', '/auth/passkeys/options', signedIn, 'admin'],
      addPasskey: ['POST', '/auth/passkeys', signedIn, 'admin'],
      removePasskey: ['POST', '/auth/passkeys/:passkey_id/remove', signedIn, 'admin'],
      signOut: ['POST', '/auth/sign-out', signedIn, 'none'],
      getMe: ['GET', '/auth/me', signedIn, 'none'],
      changePassword: ['POST', '/auth/password', signedIn, 'admin'],
      listSessions: ['GET', '/auth/sessions', signedIn],
      endSessions: ['DELETE', '/auth/sessions', signedIn, 'admin'],
      endSession: ['DELETE', '/auth/sessions/:session_id', signedIn, 'admin'],
      listApiKeys: ['GET', '/auth/api-keys', signedIn],
      createApiKey: ['POST', '/auth/api-keys', signedIn, 'admin'],
      getApiKey: ['GET', '/auth/api-keys/:key_id', signedIn],
      deleteApiKey: ['DELETE', '/auth/api-keys/:key_id', signedIn, 'admin'],
      previewInvitation: ['GET', '/auth/invitations/:token', anyone],
      acceptInvitation: ['POST', '/auth/invitations/:token/accept', anyone, 'admin'],
      listOidcProviders: ['GET', '/auth/oidc', anyone],
      startOidc: ['GET', '/auth/oidc/:provider/start', anyone],
      finishOidc: ['GET', '/auth/oidc/:provider/callback', anyone],
      linkOidc: ['POST', '/auth/oidc/:provider/link', signedIn, 'admin'],
      unlinkOidc: ['DELETE', '/auth/oidc/:provider/link', signedIn, 'admin'],
    },
    {
      signUp: {
        ...comesIn,
        summary: 'Make an account with a company and a workspace of its own, and sign in',
        description:
          'Where the service sends mails the answer is 202 `{"state": "check_mail"}` for every address, with an account or without, and the account is made by `POST /auth/sign-up/confirm`. Where it sends none, the account is made at once (201), and an address that has one is 409. Closed sign-up is 403 `sign_up_closed`; the address of an operator needs the `claim_token` printed at start, else 403 `address_reserved`.',
        body: SignUp,
        answer: SignedInOrCheckMail,
        status: 201,
        alsoStatus: [202],
        location: () => '/auth/me',
        rate: 'sign_up',
        allowed: people.maySignUp,
        examples: {
          body: { email: 'ann@example.com', password: 'correct horse battery', name: 'Ann', workspace_name: 'Acme' },
        },
        run: people.signUp,
      },
      getAuthOptions: {
        extension,
        summary: 'How people come in: whether sign-up is open, and whether the service sends mails',
        answer: AuthOptions,
        run: async () => ({
          sign_up: accountMail.config.HEDDLE_SIGN_UP,
          mail: sendsMail(accountMail.config),
        }),
      },
      confirmSignUp: {
        ...comesIn,
        summary: 'Make the account of a sign-up with the token from the mail and the password chosen then',
        description:
          'The token works once, for 24 hours. A used, expired or unknown one is 404. Another password than the one of the sign-up is 401.',
        body: ConfirmSignUp,
        answer: SignedIn,
        status: 201,
        rate: 'sign_in',
        location: () => '/auth/me',
        run: bound(accountMail, confirmSignUp),
      },
      sendVerification: {
        extension,
        idempotency: 'none',
        summary: 'Send the caller a mail with a link that proves their address',
        description:
          'At most five an hour (429). An address that is proven is 409. Without a mail server 503 `provider_not_configured`. Until the address is proven, its person cannot invite anybody by mail (403 `email_unverified`).',
        answer: CheckMail,
        status: 202,
        run: (ctx) => sendVerification(accountMail, ctx),
      },
      confirmEmail: {
        ...comesIn,
        summary: 'Prove an address with the token from the mail; signs nobody in',
        description: 'The token works once, for 24 hours. A used, expired or unknown one is 404.',
        body: ConfirmEmail,
        status: 204,
        rate: 'sign_in',
        run: confirmEmail,
      },
      forgotPassword: {
        ...comesIn,
        summary: 'Send a mail with a link that replaces the password',
        description:
          'The answer is the same for every address, with an account or without. Without a mail server 503 `provider_not_configured`.',
        body: ForgotPassword,
        answer: CheckMail,
        status: 202,
        rate: 'sign_up',
        examples: { body: { email: 'ann@example.com' } },
        run: bound(accountMail, forgotPassword),
      },
      resetPassword: {
        ...comesIn,
        summary: 'Replace the password with the token from the mail; every session ends',
        description:
          'The token works once, for one hour. A used, expired or unknown one is 404. It signs nobody in, and a second factor stays. Where the address had never been proven before, the API keys and linked providers of the account go too.',
        body: ResetPassword,
        status: 204,
        rate: 'sign_in',
        run: bound(accountMail, resetPassword),
      },
      signIn: {
        ...comesIn,
        summary: 'Sign in; the session the browser had before ends',
        description:
          'Anyone who has a second factor gets `second_factor_required` with a challenge and no session, and goes on with `POST /auth/sign-in/second-factor`. Twenty wrong passwords or codes for one account from one address lock it for that address for 15 minutes (429), whether or not the account exists.',
        body: SignIn,
        answer: SignedInOrSecondFactor,
        rate: 'sign_in',
        examples: { body: { email: 'ann@example.com', password: 'correct horse battery' } },
        run: people.signIn,
      },
      finishSignIn: {
        ...comesIn,
        summary: 'The second step of a sign-in: a code, a recovery code or a passkey',
        description:
          'A wrong one is 401 `bad_second_factor`; after five, or five minutes, the sign-in begins again with the password. A code is taken once.',
        body: SecondFactor,
        answer: SignedIn,
        rate: 'sign_in',
        examples: { body: { challenge: 'mfa_…', code: '123456' } },
        run: bound(factors, finishSignIn),
      },
      describeSecondFactor: {
        ...comesIn,
        summary: 'What a challenge asks for; for pages that have nothing but the challenge',
        body: SecondFactorChallenge,
        answer: SecondFactorRequired,
        rate: 'sign_in',
        run: describeSecondFactor,
      },
      beginPasskeySignIn: {
        ...comesIn,
        summary: 'Begin to sign in with a passkey and nothing else',
        description: 'The browser asks which passkey of this site to use. The challenge works once, for five minutes.',
        answer: BegunPasskeySignIn,
        rate: 'sign_in',
        run: bound(factors, beginPasskeySignIn),
      },
      finishPasskeySignIn: {
        ...comesIn,
        summary: 'Sign in with a passkey and nothing else',
        description:
          'The passkey must have asked its person for a PIN, a finger or a face (user verification); no second factor is asked for then. What does not fit is 401 `bad_second_factor`.',
        body: PasskeySignIn,
        answer: SignedIn,
        rate: 'sign_in',
        run: bound(factors, finishPasskeySignIn),
      },
      getSecondFactors: {
        extension,
        summary: "The caller's second factors",
        answer: SecondFactors,
        run: getSecondFactors,
      },
      beginTotp: {
        ...comesIn,
        summary: 'Begin to set up an authenticator app; it counts once a code was confirmed',
        body: PasswordAgain,
        answer: BegunTotp,
        rate: 'sign_in',
        run: bound(factors, beginTotp),
      },
      confirmTotp: {
        ...comesIn,
        summary: 'Confirm the authenticator app with its first code; the first factor gives recovery codes',
        body: ConfirmTotp,
        answer: RecoveryCodes,
        rate: 'sign_in',
        run: bound(factors, confirmTotp),
      },
      removeTotp: {
        ...comesIn,
        summary: 'Remove the authenticator app; with the last factor go the recovery codes',
        body: PasswordAgain,
        status: 204,
        rate: 'sign_in',
        run: bound(factors, removeTotp),
      },
      renewRecoveryCodes: {
        ...comesIn,
        summary: 'Ten new recovery codes in place of the old ones; shown once',
        body: PasswordAgain,
        answer: RecoveryCodes,
        rate: 'sign_in',
        run: bound(factors, renewRecoveryCodes),
      },
      beginPasskey: {
        ...comesIn,
        summary: 'Begin to add a passkey',
        body: PasswordAgain,
        answer: BegunPasskey,
        rate: 'sign_in',
        run: bound(factors, beginPasskey),
      },
      addPasskey: {
        ...comesIn,
        summary: 'Add the passkey that the browser made; the first factor gives recovery codes',
        body: NewPasskey,
        answer: AddedPasskey,
        status: 201,
        location: () => '/auth/second-factor',
        rate: 'sign_in',
        run: bound(factors, addPasskey),
      },
      removePasskey: {
        ...comesIn,
        summary: 'Remove a passkey',
        body: PasswordAgain,
        status: 204,
        rate: 'sign_in',
        run: bound(factors, removePasskey),
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
        query: listQuery,
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
      listApiKeys: {
        extension,
        summary: "The caller's API keys",
        query: listQuery,
        answer: page(ApiKey),
        run: apiKeys.listApiKeys,
      },
      createApiKey: {
        extension,
        summary: 'Make an API key, for all of the caller’s workspaces or for one; `key` is shown once',
        description: 'A key made with a key reaches no further and lasts no longer than that one.',
        body: NewApiKey,
        answer: CreatedApiKey,
        status: 201,
        idempotency: 'anywhere',
        location: ({ key_id }, path) => `${path}/${key_id}`,
        examples: { body: { name: 'deploy script' } },
        run: apiKeys.createApiKey,
      },
      getApiKey: { extension, summary: "One of the caller's API keys", answer: ApiKey, run: apiKeys.getApiKey },
      deleteApiKey: {
        extension,
        summary: 'Delete an API key',
        status: 204,
        current: apiKeys.getApiKey,
        run: apiKeys.deleteApiKey,
      },
      previewInvitation: {
        extension,
        summary: 'What an invitation is to',
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
      listOidcProviders: {
        extension,
        summary: 'OpenID providers to sign in with',
        answer: OidcProviders,
        run: oidc.listOidcProviders,
      },
      startOidc: {
        extension,
        transaction: false,
        summary: 'Send the browser to the provider (302)',
        query: z.strictObject({ return_to: returnTo().default('/') }),
        produces: ['text/html'],
        status: 302,
        run: oidc.startOidc,
      },
      finishOidc: {
        extension,
        transaction: false,
        summary: 'Where the provider sends the browser back to (302); single use, bound to that browser',
        query: z.looseObject({ state: z.string().max(200).optional() }),
        produces: ['text/html'],
        status: 302,
        run: oidc.finishOidc,
      },
      linkOidc: {
        ...comesIn,
        summary: 'Begin to link a provider to the account; open `url` in the same browser',
        body: z.strictObject({ return_to: returnTo().optional() }),
        answer: z.object({ url: z.string() }),
        allowed: oidc.findProvider,
        run: oidc.linkOidc,
      },
      unlinkOidc: {
        extension,
        transaction: false,
        summary: 'Unlink a provider from the account',
        status: 204,
        allowed: oidc.findProvider,
        run: oidc.unlinkOidc,
      },
    },
  )
