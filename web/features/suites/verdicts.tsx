import { CircleCheck, CircleDashed, CircleX } from 'lucide-react'
import type { SuiteOutcome } from '#sdk/types.generated'
import { t } from '#web/words/language.ts'
import { translateMessage } from '#web/words/messages.ts'

/** Our own text for each kind of check; a kind of a newer service keeps its own name. */
const kinds: Record<string, string> = {
  equal: 'Comparison with what is expected',
  cel: 'Condition',
  judge: 'Judgement of a model',
  execution: 'Run of the workflow',
}

const looks = {
  passed: { icon: CircleCheck, colour: 'text-success', word: t('passed') },
  failed: { icon: CircleX, colour: 'text-danger', word: t('failed') },
  open: { icon: CircleDashed, colour: 'text-ink-3', word: t('not checked') },
}

/** The result of each check of a suite for one record. */
export const Verdicts = ({ checks }: { checks: SuiteOutcome['checks'] }) => (
  <section aria-label="Check results">
    <h3 className="mb-1.5 text-sm font-medium">Check results</h3>
    <ol className="flex flex-col gap-1.5">
      {checks.map(({ kind, passed, message }, at) => {
        const { icon: Icon, colour, word } = looks[passed === null ? 'open' : passed ? 'passed' : 'failed']
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: results do not move
          <li key={at} className="flex items-start gap-2">
            <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${colour}`} />
            <span className="min-w-0">
              {kinds[kind] ?? kind} <span className="text-ink-2">({word})</span>
              {message !== undefined && (
                <span className="block break-words text-ink-2">{translateMessage(message)}</span>
              )}
            </span>
          </li>
        )
      })}
    </ol>
  </section>
)
