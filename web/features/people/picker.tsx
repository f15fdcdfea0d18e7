import { useState } from 'react'
import type { WorkspaceMember } from '#sdk/types.generated'
import { Checkbox, Field, Input } from '#web/ui/field.tsx'

/** Selects several people of the workspace, by name or address. */
export function PeoplePicker({
  people,
  chosen,
  onChange,
  nobody,
}: {
  people: WorkspaceMember[]
  chosen: string[]
  onChange(ids: string[]): void
  nobody: string
}) {
  const [sought, setSought] = useState('')
  if (people.length === 0) return <p className="text-ink-2">{nobody}</p>
  const wanted = sought.trim().toLowerCase()
  const shown = people.filter(({ name, email }) => `${name} ${email}`.toLowerCase().includes(wanted))
  return (
    <div className="flex flex-col gap-3">
      {people.length > 8 && (
        <Field label="Search">
          <Input value={sought} onChange={(event) => setSought(event.target.value)} placeholder="Name or e-mail" />
        </Field>
      )}
      <ul className="flex max-h-64 flex-col gap-2 overflow-y-auto">
        {shown.map((person) => (
          <li key={person.user_id}>
            <Checkbox
              checked={chosen.includes(person.user_id)}
              onCheckedChange={(on) =>
                onChange(on ? [...chosen, person.user_id] : chosen.filter((id) => id !== person.user_id))
              }
              label={
                <>
                  {person.name} <span className="text-ink-2">{person.email}</span>
                </>
              }
            />
          </li>
        ))}
        {shown.length === 0 && <li className="text-ink-2">No matches.</li>}
      </ul>
    </div>
  )
}
