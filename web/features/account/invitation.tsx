import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { account, useApi } from '#web/api.ts'
import { resetSession, switchWorkspace, useMaybeMe } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { Loading } from '#web/ui/states.tsx'
import { RelativeTime } from '#web/ui/time.tsx'
import { roleLabel } from '../people/roles.ts'
import { SignInLayout } from './sign-in-layout.tsx'

const places = { thread: '/threads/', job: '/jobs/' }

/** The page of an invitation link: a new user chooses a password, an existing user accepts. */
export function InvitationPage() {
  const token = useParams({ strict: false }).token as unknown as string
  const preview = useApi('previewInvitation', { token })
  const me = useMaybeMe()
  const navigate = useNavigate()

  const accept = async (given: { name?: string; password?: string }): Promise<void> => {
    const { workspace, resource, session } = await account.acceptInvitation({ token, ...given })
    if (session) await resetSession()
    else await switchWorkspace(workspace.workspace_id)
    await navigate({ to: resource ? places[resource.kind] + resource.id : '/', replace: true })
  }

  if (preview.isPending || me.isPending) {
    return (
      <SignInLayout title="Invitation">
        <Loading />
      </SignInLayout>
    )
  }
  if (!preview.data) {
    return (
      <SignInLayout title="This invitation is not valid">
        <p>
          It was used, has expired, or was withdrawn. Ask for a new one, or{' '}
          <Link to="/" className="text-accent underline">
            go to the console
          </Link>
          .
        </p>
      </SignInLayout>
    )
  }
  const { email, role, workspace_name, invited_by, resource_kind, expires_at } = preview.data
  const lead = (
    <>
      {invited_by ?? 'Someone'} invites <strong>{email}</strong> {resource_kind ? `to a ${resource_kind} in` : 'into'}{' '}
      <strong>{workspace_name}</strong> as {roleLabel(role)}. Expires <RelativeTime at={expires_at} />.
    </>
  )
  const signedIn = me.data?.user.email
  if (signedIn?.toLowerCase() === email.toLowerCase()) {
    return (
      <SignInLayout title={`Join ${workspace_name}`} lead={lead}>
        <Form submit="Accept the invitation" onSubmit={() => accept({})}>
          <p>You are signed in as {signedIn}.</p>
        </Form>
      </SignInLayout>
    )
  }
  if (signedIn !== undefined) {
    return (
      <SignInLayout title={`Join ${workspace_name}`} lead={lead}>
        <p className="mb-4">
          You are signed in as {signedIn}, and the invitation is for {email}. Sign out first to accept it.
        </p>
        <Button onClick={() => void account.signOut().then(() => location.reload())}>Sign out</Button>
      </SignInLayout>
    )
  }
  return (
    <SignInLayout
      title={`Join ${workspace_name}`}
      lead={lead}
      below={
        <>
          Have an account with that address?{' '}
          <Link
            to="/sign-in"
            search={{ return_to: `/invitations/${token}` } as never}
            className="text-accent underline"
          >
            Sign in first
          </Link>
        </>
      }
    >
      <Form<{ name: string; password: string }> submit="Create account and join" onSubmit={accept}>
        <Field name="name" label="Your name">
          <Input required autoFocus autoComplete="name" />
        </Field>
        <Field
          name="password"
          label="Password"
          hint="At least 8 characters. A long phrase is easy to remember and hard to guess."
        >
          <Input type="password" required autoComplete="new-password" />
        </Field>
      </Form>
    </SignInLayout>
  )
}
