import { useState } from 'react'
import { areasOfScopes, type ScopeVerb, scopeVerbs } from '#model/scopes'
import { Checkbox, Field, Select } from '#web/ui/field.tsx'
import { capitalize } from '#web/ui/format.ts'
import { t } from '#web/words/language.ts'

const presets: Record<string, string[] | null> = {
  all: null,
  read: ['*:read'],
  run: ['*:read', '*:run'],
  own: [],
}

const verbWords: Record<ScopeVerb, string> = { read: 'Read', run: 'Run', write: 'Write', admin: 'Admin' }
const areaLabel = (area: string): string => capitalize(area).replaceAll('-', ' ')

/** Describes the scopes of a key. */
export const scopesInWords = (scopes: readonly string[] | null): string => {
  if (scopes === null) return t('Everything')
  return scopes.join(', ')
}

/** Null means all permissions. */
export function ScopeFields({ everything, onChange }: { everything: string; onChange(scopes: string[] | null): void }) {
  const [preset, setPreset] = useState('all')
  const [chosen, setChosen] = useState<string[]>([])
  const choose = (next: string): void => {
    setPreset(next)
    onChange(next === 'own' ? chosen : (presets[next] ?? null))
  }
  const toggle = (scope: string, on: boolean): void => {
    const next = on ? [...chosen, scope] : chosen.filter((other) => other !== scope)
    setChosen(next)
    onChange(next)
  }
  return (
    <>
      <Field name="rights" label="Rights" hint="Give a program only what it needs.">
        <Select
          value={preset}
          onChange={(event) => choose(event.target.value)}
          options={[
            { value: 'all', label: everything },
            { value: 'read', label: 'Read only' },
            { value: 'run', label: 'Read and run' },
            { value: 'own', label: 'Choose scopes…' },
          ]}
        />
      </Field>
      {preset === 'own' && (
        <fieldset className="flex max-h-72 flex-col gap-2 overflow-y-auto">
          <legend className="mb-1 text-sm font-medium">Scopes</legend>
          {areasOfScopes.map((area) => (
            <div key={area} className="grid grid-cols-[minmax(8rem,1fr)_repeat(4,auto)] items-center gap-x-4">
              <span className="text-sm">{areaLabel(area)}</span>
              {scopeVerbs.map((verb) => (
                <Checkbox
                  key={verb}
                  label={verbWords[verb]}
                  aria-label={`${area}:${verb}`}
                  checked={chosen.includes(`${area}:${verb}`)}
                  onCheckedChange={(on) => toggle(`${area}:${verb}`, on)}
                />
              ))}
            </div>
          ))}
        </fieldset>
      )}
    </>
  )
}
