import type { Json } from '#model/definition'
import { useCheck } from '../check/load.ts'
import type { Source } from '../document/upstream.ts'
import { useFieldScope } from './scope.tsx'
import { shortJson } from './short-json.ts'

/** Shows the value for the data of the last execution. */
export function SampleResult({ value }: { value: { $ref: string } | { $cel: string } }) {
  const { sample, sources } = useFieldScope()
  const check = useCheck()
  if (!sample || !check) return null
  const unknown = withoutData(sources, '$ref' in value ? value.$ref : value.$cel)
  if (unknown) return <Said title="The last run has no data for it">No data yet from {unknown.title}</Said>
  const result = check.preview(value as Json, sample)
  return (
    <Said title={result.ok ? 'With data from the last run' : result.message}>
      {result.ok ? (
        <>
          = <span className="font-mono text-ink-2">{shortJson(result.value)}</span>
        </>
      ) : (
        `With the last run: ${result.message}`
      )}
    </Said>
  )
}

const Said = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <p className="min-w-0 truncate text-xs text-ink-3" title={title}>
    {children}
  </p>
)

/** Returns a source that the text names but that has no data from the last execution: the value would be a guess. */
export const withoutData = (sources: readonly Source[], text: string): Source | undefined =>
  sources.find(({ reference, sample }) => sample === undefined && reference !== 'execution' && names(text, reference))

const names = (text: string, reference: string): boolean => {
  const id = /^nodes\.(.+)\.output$/.exec(reference)?.[1]
  const found = id === undefined ? reference : `nodes(?:\\.${id}|\\["${id}"\\])`
  return new RegExp(`(?<![\\w."'])${found}(?![\\w-])`).test(text)
}
