// People are mentioned in a comment by "@" and their name, as typed.

export type Named = { user_id: string; name: string }

/** Returns who is mentioned; of "@Ada" and "@Ada King" the longer name counts. */
export function mentionedIn(text: string, people: readonly Named[]): string[] {
  const byLength = people.toSorted((a, b) => b.name.length - a.name.length)
  const found = new Set<string>()
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const rest = text.slice(at + 1).toLowerCase()
    const person = byLength.find(({ name }) => rest.startsWith(name.toLowerCase()))
    if (person) found.add(person.user_id)
  }
  return [...found]
}

/** Returns the letters after the last "@" before the caret, while a name is being typed. */
export function typedName(text: string, caret: number): string | null {
  const before = text.slice(0, caret)
  const at = before.lastIndexOf('@')
  if (at < 0 || (at > 0 && /\S/.test(before[at - 1]!))) return null
  const typed = before.slice(at + 1)
  return /^[^\n@]{0,40}$/.test(typed) && !/\s\s/.test(typed) ? typed : null
}

export function putName(text: string, caret: number, name: string): { text: string; caret: number } {
  const at = text.slice(0, caret).lastIndexOf('@')
  const head = `${text.slice(0, at)}@${name} `
  return { text: head + text.slice(caret), caret: head.length }
}
