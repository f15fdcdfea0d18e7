import { Link } from '@tanstack/react-router'
import { SignInLayout } from './sign-in-layout.tsx'

export function CheckMail({ what }: { what: string }) {
  return (
    <SignInLayout
      title="Check your mail"
      below={
        <Link to="/sign-in" className="text-accent underline">
          Sign in
        </Link>
      }
    >
      <p role="status">{what} It can take a minute. Check the spam folder too.</p>
    </SignInLayout>
  )
}
