import { anyone, signedIn, viewer } from '#platform/access/rules'
import type { Context } from '#platform/http/context'
import { type AnyRoute, type Exchange, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { createLink, deleteIdentity, getIdentity, listIdentities, listReachable } from './identities.ts'
import { ChannelIdentity, identityList, LinkCode, NewLink, ReachableChannels } from './identity-schema.ts'
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
      listReachableChannels: ['GET', '/api/notifications/channels', viewer('workspace')],
      linkChannel: ['POST', '/api/notifications/channels', viewer('workspace')],
      listChannelIdentities: ['GET', '/api/notifications/identities', viewer('workspace')],
      getChannelIdentity: ['GET', '/api/notifications/identities/:identity_id', viewer('workspace')],
      deleteChannelIdentity: ['DELETE', '/api/notifications/identities/:identity_id', viewer('workspace')],
    },
    {
      getNotificationPreferences: {
        summary: 'How the caller is notified of events in the workspace, by kind of notice',
        answer: Preferences,
        extension: true,
        run: getPreferences,
      },
      setNotificationPreferences: {
        summary: 'Choose how to be notified of events in the workspace',
        description: 'Replaces the previous choice. Gates and questions are always in the inboxes.',
        body: NewPreferences,
        answer: Preferences,
        extension: true,
        current: getPreferences,
        examples: { body: { preferences: [{ kind: 'execution.failed', app: true, mail: true }] } },
        run: setPreferences,
      },
      listReachableChannels: {
        summary: 'Channels of the workspace in which the caller can be reached: Slack, Telegram, Discord',
        answer: ReachableChannels,
        extension: true,
        run: listReachable,
      },
      linkChannel: {
        summary: 'Get a text that proves that an account of a channel belongs to the caller',
        description:
          'Write `text` to the channel as a direct message from your own account, within fifteen minutes. From then on you get gates and questions there, with buttons; the vendor identifies the person who presses them. The text works once, and another request replaces it.',
        body: NewLink,
        answer: LinkCode,
        extension: true,
        idempotency: 'none',
        examples: { body: { config_id: 'chan_01kf3v6h2he3wtpk1fw5c0wz9d' } },
        run: createLink,
      },
      listChannelIdentities: {
        summary: 'Accounts in channels that are linked to the caller',
        query: identityList.query,
        answer: page(ChannelIdentity),
        extension: true,
        run: listIdentities,
      },
      getChannelIdentity: { summary: 'One of them', answer: ChannelIdentity, extension: true, run: getIdentity },
      deleteChannelIdentity: {
        summary: 'Unlink an account; its buttons stop working',
        status: 204,
        extension: true,
        current: getIdentity,
        run: deleteIdentity,
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
          'The answer counts as that of the person to whom the message was sent, with the current rights of the person. Without a session of that person, or a browser that the person used before, the `code` of `POST …/code` is required (403 `proof_required`). The first answer counts, no matter where it is given.',
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
        summary: 'Send a code to the address of the message',
        description: 'Six digits, valid for ten minutes. Five codes at most for one message.',
        answer: CodeSent,
        status: 202,
        idempotency: 'none',
        alsoRefuses: [403, 409],
        run: (ctx: Context, input: { interaction: string }) => sendInteractionCode(deps, ctx, input),
      },
    },
  )
