import { z } from 'zod'
import { allScopes } from '#model/scopes'
import { passwordIn } from '#platform/auth/passwords'
import { idList } from '#platform/http/bulk'
import { defineList } from '#platform/http/list'
import { email, id, jsonObject, name, reference, timestamp, timestampIn } from '#platform/http/schema'

export const User = z
  .object({
    user_id: id('usr'),
    email: z.string(),
    name: z.string(),
    email_verified_at: timestamp().nullable().describe('When the person proved that the address is theirs'),
    created_at: timestamp(),
  })
  .meta({ id: 'User' })
export type User = z.input<typeof User>

/** A workspace as shown to its people after sign-in. */
const OwnWorkspace = z
  .object({
    workspace_id: id('ws'),
    company_id: id('co'),
    name: z.string(),
    role: z.enum(['owner', 'member', 'viewer', 'guest']),
  })
  .meta({ id: 'OwnWorkspace' })
export type OwnWorkspace = z.input<typeof OwnWorkspace>

export const Session = z
  .object({
    session_id: id('ses'),
    current: z.boolean(),
    user_agent: z.string().nullable(),
    address: z.string().nullable(),
    created_at: timestamp(),
    last_seen_at: timestamp(),
    expires_at: timestamp(),
  })
  .meta({ id: 'Session' })
export type Session = z.input<typeof Session>

export const SignUp = z.strictObject({
  email: email(),
  password: passwordIn(),
  name: name(),
  workspace_name: name().optional(),
  claim_token: z.string().max(200).optional(),
})
export const SignIn = z.strictObject({ email: email(), password: z.string().min(1).max(256) })

/** The response that starts a session. Only the cookie contains the session's token. */
export const SignedIn = z
  .object({ user: User, workspace: OwnWorkspace.nullable(), session: Session })
  .meta({ id: 'SignedIn' })
export type SignedIn = z.input<typeof SignedIn>

const factorMethods = z.enum(['totp', 'passkey', 'recovery_code'])

/** The second step that a sign-in still needs. */
export const SecondFactorRequired = z
  .object({
    second_factor_required: z.literal(true),
    challenge: z.string().describe('To be sent with the factor; works once, for five minutes'),
    methods: z.array(factorMethods),
    passkey: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('PublicKeyCredentialRequestOptionsJSON for `navigator.credentials.get`'),
    expires_at: timestamp(),
  })
  .meta({ id: 'SecondFactorRequired' })
export type SecondFactorRequired = z.input<typeof SecondFactorRequired>
export const SignedInOrSecondFactor = z.union([SignedIn, SecondFactorRequired])
export type SignedInOrSecondFactor = z.input<typeof SignedInOrSecondFactor>

const challengeIn = () => z.string().min(1).max(200)
export const SecondFactorChallenge = z.strictObject({ challenge: challengeIn() })
export const BegunPasskeySignIn = z
  .object({
    options: jsonObject().describe('PublicKeyCredentialRequestOptionsJSON'),
    expires_at: timestamp(),
  })
  .meta({ id: 'BegunPasskeySignIn' })
export type BegunPasskeySignIn = z.input<typeof BegunPasskeySignIn>
export const PasskeySignIn = z.strictObject({
  passkey: jsonObject().describe('AuthenticationResponseJSON'),
})
export const SecondFactor = z
  .strictObject({
    challenge: challengeIn(),
    code: z.string().min(1).max(20).optional().describe('Six digits of the authenticator app'),
    recovery_code: z.string().min(1).max(100).optional(),
    passkey: jsonObject().optional().describe('AuthenticationResponseJSON'),
  })
  .refine(
    ({ code, recovery_code, passkey }) =>
      [code, recovery_code, passkey].filter((given) => given !== undefined).length === 1,
    'exactly one of code, recovery_code and passkey is required',
  )

export const PasswordAgain = z.strictObject({
  current_password: z.string().min(1).max(256).optional().describe('Required if the account has a password'),
})
export const BegunTotp = z
  .object({
    secret: z.string().describe('In base 32, to type'),
    otpauth_url: z.string().describe('To show as a QR code'),
  })
  .meta({ id: 'BegunTotp' })
export const ConfirmTotp = z.strictObject({ code: z.string().min(1).max(20) })
export const RecoveryCodes = z
  .object({
    recovery_codes: z.array(z.string()).nullable().describe('Shown only once; null if the current codes stay valid'),
  })
  .meta({ id: 'RecoveryCodes' })
export type RecoveryCodes = z.input<typeof RecoveryCodes>
export const Passkey = z
  .object({ passkey_id: id('psk'), name: z.string(), created_at: timestamp(), last_used_at: timestamp().nullable() })
  .meta({ id: 'Passkey' })
export type Passkey = z.input<typeof Passkey>
export const BegunPasskey = z
  .object({
    challenge: z.string(),
    options: jsonObject().describe('PublicKeyCredentialCreationOptionsJSON for `navigator.credentials.create`'),
    expires_at: timestamp(),
  })
  .meta({ id: 'BegunPasskey' })
export const NewPasskey = z.strictObject({
  challenge: challengeIn(),
  name: name(),
  response: jsonObject().describe('RegistrationResponseJSON'),
})
export const AddedPasskey = Passkey.extend(RecoveryCodes.shape).meta({ id: 'AddedPasskey' })
export type AddedPasskey = z.input<typeof AddedPasskey>
export const SecondFactors = z
  .object({
    totp: z.boolean().describe('Whether an authenticator app is set up'),
    passkeys: z.array(Passkey),
    recovery_codes_left: z.number().int(),
  })
  .meta({ id: 'SecondFactors' })
export type SecondFactors = z.input<typeof SecondFactors>

/** The same response for every address. */
export const CheckMail = z.object({ state: z.literal('check_mail') }).meta({ id: 'CheckMail' })
export type CheckMail = z.input<typeof CheckMail>
export const SignedInOrCheckMail = z.union([SignedIn, CheckMail])

const mailedToken = () => z.string().min(1).max(200)
export const ConfirmSignUp = z.strictObject({ token: mailedToken(), password: z.string().min(1).max(256) })
export const ConfirmEmail = z.strictObject({ token: mailedToken() })
export const ForgotPassword = z.strictObject({ email: email() })
export const ResetPassword = z.strictObject({ token: mailedToken(), password: passwordIn() })

export const AuthOptions = z
  .object({
    sign_up: z.enum(['open', 'invite']),
    mail: z
      .boolean()
      .describe('Whether the service sends mails: sign-up, forgotten passwords and confirmations use them'),
  })
  .meta({ id: 'AuthOptions' })

export const Me = z
  .object({
    user: User,
    workspaces: z.array(OwnWorkspace),
    selected_workspace_id: id('ws').nullable(),
    operator: z.boolean(),
  })
  .meta({ id: 'Me' })

export const NewPassword = z.strictObject({
  current_password: z.string().min(1).max(256),
  new_password: passwordIn(),
})

export const endSessionsQuery = z.strictObject({
  keep_current: z.enum(['true', 'false']).default('false').describe('`true` leaves the session of this request'),
})

export const ScopeName = z.enum(allScopes as [string, ...string[]]).meta({
  id: 'Scope',
  description: 'An area, or `*` for all, and `read`, `run`, `write` (reads too) or `admin` (everything)',
})

const scopesIn = () =>
  z
    .array(ScopeName)
    .min(1)
    .max(200)
    .transform((scopes) => [...new Set(scopes)])
    .nullable()
    .optional()
    .describe(
      'What the key may do; null or absent: everything that its person may do, or that the key it is made with may do',
    )

export const ApiKey = z
  .object({
    key_id: id('key'),
    name: z.string(),
    prefix: z.string(),
    workspace_id: id('ws').nullable(),
    scopes: z.array(ScopeName).nullable().describe('What the key may do; null: everything that its person may do'),
    created_at: timestamp(),
    last_used_at: timestamp().nullable(),
    expires_at: timestamp().nullable(),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.input<typeof ApiKey>
export const CreatedApiKey = ApiKey.extend({ key: z.string().describe('Shown once') }).meta({ id: 'CreatedApiKey' })

export const NewApiKey = z.strictObject({
  name: name(),
  workspace_id: reference('ws').nullable().optional(),
  scopes: scopesIn(),
  expires_at: timestampIn().nullable().optional(),
})
/** The key of a service account is always bound to its workspace. */
export const NewServiceAccountKey = NewApiKey.omit({ workspace_id: true })

export const InvitationPreview = z
  .object({
    email: z.string(),
    role: z.string(),
    workspace_name: z.string(),
    invited_by: z.string().nullable(),
    resource_kind: z.enum(['thread', 'job']).nullable(),
    expires_at: timestamp(),
  })
  .meta({ id: 'InvitationPreview' })

export const AcceptInvitation = z.strictObject({ name: name().optional(), password: passwordIn().optional() })

export const Accepted = z
  .object({
    user: User,
    workspace: OwnWorkspace,
    session: Session.nullable().describe('The new session of a new person'),
    resource: z
      .object({ kind: z.enum(['thread', 'job']), id: z.string() })
      .nullable()
      .describe('What the person was invited to; null means the whole workspace'),
  })
  .meta({ id: 'AcceptedInvitation' })
export type Accepted = z.input<typeof Accepted>

export const OidcProviders = z
  .object({
    items: z.array(
      z.object({
        provider: z.string(),
        title: z.string(),
        start_url: z.string(),
        linked: z.boolean().describe('Whether the caller can sign in with it'),
      }),
    ),
  })
  .meta({ id: 'OidcProviders' })

/** Accepts only a path of this service: browsers treat `//host` and `/\\host` as other sites. */
export const returnTo = () =>
  z
    .string()
    .max(500)
    .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/, 'must be a path of this service')

export const DeleteApiKeys = z
  .strictObject({
    key_ids: idList('key').optional(),
    all_others: z
      .literal(true)
      .optional()
      .describe('All keys but the one that makes this call, instead of `key_ids`; with a session, all keys'),
  })
  .refine(({ key_ids, all_others }) => (key_ids === undefined) !== (all_others === undefined), {
    message: 'exactly one of key_ids and all_others is required',
    path: ['key_ids'],
  })
  .meta({ id: 'DeleteApiKeys' })
export const KeysDeleted = z
  .object({ deleted: z.number().int().describe('How many keys were deleted') })
  .meta({ id: 'ApiKeysDeleted' })

export const sessionList = defineList({
  id: 'session_id',
  search: ['user_agent', 'address'],
  sort: { created_at: 'id', last_seen_at: 'time' },
  order: '-created_at',
})

export const apiKeyList = defineList({
  id: 'key_id',
  search: ['name', 'prefix'],
  sort: { created_at: 'id', name: 'text', last_used_at: 'time', expires_at: 'time' },
  order: '-created_at',
})
