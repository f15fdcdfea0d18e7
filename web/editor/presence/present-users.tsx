const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('') || '?'

/** The other people who have this workflow open. */
export function PresentUsers({ people }: { people: { user_id: string; name: string }[] }) {
  if (people.length === 0) return null
  return (
    <ul aria-label="Also here" className="flex -space-x-1.5">
      {people.slice(0, 4).map(({ user_id, name }) => (
        <li
          key={user_id}
          title={`${name} is here too`}
          className="grid size-7 place-items-center rounded-full border-2 border-surface bg-running-soft text-xs font-semibold text-running"
        >
          <span aria-hidden>{initials(name)}</span>
          <span className="sr-only">{name} is here too</span>
        </li>
      ))}
      {people.length > 4 && (
        <li className="grid size-7 place-items-center rounded-full border-2 border-surface bg-sunken text-xs">
          +{people.length - 4}
        </li>
      )}
    </ul>
  )
}
