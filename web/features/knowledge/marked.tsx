/** A text with highlighted places; positions count characters. */
export function Marked({ text, places }: { text: string; places: [from: number, to: number][] }) {
  const characters = [...text]
  const part = (from: number, to?: number): string => characters.slice(from, to).join('')
  return (
    <>
      {places.map(([from, to], index) => (
        <span key={from}>
          {part(places[index - 1]?.[1] ?? 0, from)}
          <mark className="rounded-xs bg-accent-soft text-ink">{part(from, to)}</mark>
        </span>
      ))}
      {part(places.at(-1)?.[1] ?? 0)}
    </>
  )
}
