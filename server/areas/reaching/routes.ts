import { anyone, signedIn } from '#platform/access/words'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { getPreferences, NewPreferences, Preferences, setPreferences } from './preferences.ts'
import { CodeSent, Interaction, InteractionAnswer } from './schema.ts'
import { answerInteraction, getInteraction, type Reaching, sendInteractionCode } from './service.ts'

const linked = { extension: true as const, transaction: false as const }

export const preferenceRoutes = (): AnyRoute[] =>
  routes(
    'Notifications',
    {
      getNotificationPreferences: ['GET', '/api/notifications/preferences', signedIn],
      setNotificationPreferences: ['PUT', '/api/notifications/preferences', signedIn],
    },
    {
      getNotificationPreferences: {
        summary: 'How the caller hears of what happens in the workspace, by kind of notice',
        answer: Preferences,
        extension: true,
        run: getPreferences,
      },
      setNotificationPreferences: {
        summary: 'Choose how to hear of what happens in the workspace',
        description: 'Replaces what was chosen before. Gates and questions stay in the inboxes whatever is chosen.',
        body: NewPreferences,
        answer: Preferences,
        extension: true,
        current: getPreferences,
        examples: { body: { preferences: [{ kind: 'execution.failed', app: true, mail: true }] } },
        run: setPreferences,
      },
    },
  )

export const reachingRoutes = (deps: Reaching): AnyRoute[] =>
  routes(
    'Approvals',
    {
      getInteraction: ['GET', '/api/interactions/:interaction', anyone],
      answerInteraction: ['POST', '/api/interactions/:interaction', anyone],
      sendInteractionCode: ['POST', '/api/interactions/:interaction/code', anyone],
    },
    {
      getInteraction: {
        ...linked,
        summary: 'What the link of a message asks',
        description:
          'The gate or question that the message was about, for the person it was sent to. Reading changes nothing. The link is signed, and ends after 14 days or when the person leaves the workspace.',
        answer: Interaction,
        run: (ctx: Context, input: { interaction: string }, exchange: Exchange) =>
          getInteraction(deps, ctx, input, exchange),
      },
      answerInteraction: {
        ...linked,
        summary: 'Vote or answer through the link of a message',
        description:
          'Counts as the person to whom the message was sent, with the rights they have now. Without a session of that person, or a browser that was known before, the `code` of `POST …/code` is needed (403 `proof_required`). The first answer counts, whichever way it comes.',
        body: InteractionAnswer,
        answer: Interaction,
        idempotency: 'none',
        alsoRefuses: [401, 403, 409],
        examples: {
          body: {
            decision: 'approve',
            payload_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
            code: '123456',
          },
        },
        run: (ctx: Context, input: { interaction: string } & InteractionAnswer, exchange: Exchange) =>
          answerInteraction(deps, ctx, input, exchange),
      },
      sendInteractionCode: {
        ...linked,
        summary: 'Send a code to where the message went',
        description: 'Six digits, valid for ten minutes. Five codes at most for one message.',
        answer: CodeSent,
        status: 202,
        idempotency: 'none',
        alsoRefuses: [403, 409],
        run: (ctx: Context, input: { interaction: string }) => sendInteractionCode(deps, ctx, input),
      },
    },
  )
