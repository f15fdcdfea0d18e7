import { anyone, signedIn } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { sendsMail } from './mail.ts'
import { forgotPassword, resetPassword } from './password-reset.ts'
import type { People } from './people.ts'
import { bound, comesIn, extension } from './route-parts.ts'
import {
  AuthOptions,
  CheckMail,
  ConfirmEmail,
  ConfirmSignUp,
  ForgotPassword,
  ResetPassword,
  SignedIn,
  SignedInOrCheckMail,
  SignUp,
} from './schema.ts'
import { type AccountMail, confirmSignUp } from './sign-up.ts'
import { confirmEmail, sendVerification } from './verification.ts'

export const signUpRoutes = ({ accountMail, people }: { accountMail: AccountMail; people: People }): AnyRoute[] =>
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
    },
    {
      signUp: {
        ...comesIn,
        summary: 'Create an account with its own company and workspace, and sign in',
        description:
          'If the service sends mails, the response is 202 `{"state": "check_mail"}` for every address, with an account or without, and the account is made by `POST /auth/sign-up/confirm`. If the service sends no mails, the account is created at once (201), and an address with an account gives 409. Closed sign-up is 403 `sign_up_closed`; the address of an operator needs the `claim_token` printed at start, else 403 `address_reserved`.',
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
        summary: 'Whether sign-up is open, and whether the service sends mails',
        answer: AuthOptions,
        run: async () => ({
          sign_up: accountMail.config.HEDDLE_SIGN_UP,
          mail: sendsMail(accountMail.config),
        }),
      },
      confirmSignUp: {
        ...comesIn,
        summary: 'Create the account of a sign-up, with the token from the mail and the password of the sign-up',
        description:
          'The token works once, for 24 hours. A used, expired or unknown one is 404. A password other than that of the sign-up gives 401.',
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
        summary: 'Send the caller a mail with a link that verifies their address',
        description:
          'At most five an hour (429). If the address is already verified, the response is 409. Without a mail server it is 503 `provider_not_configured`. Until the address is verified, its person cannot invite people by mail (403 `email_unverified`).',
        answer: CheckMail,
        status: 202,
        run: (ctx) => sendVerification(accountMail, ctx),
      },
      confirmEmail: {
        ...comesIn,
        summary: 'Confirm an e-mail address with the token from the mail; this does not sign in',
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
          'The token works once, for one hour. A used, expired or unknown one is 404. It does not sign in, and a second factor stays. If the address had never been confirmed before, the API keys and linked providers of the account are deleted too.',
        body: ResetPassword,
        status: 204,
        rate: 'sign_in',
        run: bound(accountMail, resetPassword),
      },
    },
  )
