import { Link } from '@tanstack/react-router'
import { WayIn } from './way-in.tsx'

export function CheckMail({ what }: { what: string }) {
  return (
    <WayIn
      title="Check your mail"
      below={
        <Link to="/sign-in" className="text-accent underline">
          Sign in
        </Link>
      }
    >
      <p role="status">{what} It can take a minute. Check the spam folder too.</p>
    </WayIn>
  )
}
