import { eventFamilies, eventTypes } from '#model/event-types'
import { inConsoleWords } from '#model/translate-messages'
import { Checkbox } from '#web/ui/field.tsx'
import { t } from '#web/words/language.ts'

const familyLabels: Record<string, string> = {
  'execution.*': 'Executions',
  'approval.*': 'Approvals',
  'clarification.*': 'Questions',
  'job.*': 'Jobs',
  'credential.*': 'Credentials',
  'trigger.*': 'Triggers',
  'alert.*': 'Alerts',
  'budget.*': 'Budgets',
  'audit.*': 'Audit log',
}

/** Event types that concern the workspace as a whole. */
const forOwners = new Set(['audit.*', 'alert.*', 'budget.*', 'trigger.*'])

const typesOf = (family: string): [type: string, meaning: string][] =>
  Object.entries(eventTypes).filter(([type]) => `${type.split('.')[0]}.*` === family)

/** One checkbox for all types of a family, and one for each type. */
export function TypeBoxes({
  chosen,
  onChange,
  withAudit,
}: {
  chosen: readonly string[]
  onChange(types: string[]): void
  withAudit: boolean
}) {
  const toggle = (type: string, on: boolean): void =>
    onChange(on ? [...chosen, type] : chosen.filter((other) => other !== type))
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-sm font-medium">Events</legend>
      {eventFamilies
        .filter((family) => withAudit || !forOwners.has(family))
        .map((family) => (
          <div key={family} className="flex flex-col gap-1">
            <Checkbox
              label={`${familyLabels[family] ?? family}: all`}
              checked={chosen.includes(family)}
              onCheckedChange={(on) => toggle(family, on)}
            />
            {!chosen.includes(family) && (
              <div className="ml-6 flex flex-wrap gap-x-4 gap-y-1">
                {typesOf(family).map(([type, meaning]) => (
                  <Checkbox
                    key={type}
                    label={<span title={t(inConsoleWords(meaning))}>{type}</span>}
                    checked={chosen.includes(type)}
                    onCheckedChange={(on) => toggle(type, on)}
                  />
                ))}
              </div>
            )}
          </div>
        ))}
    </fieldset>
  )
}
