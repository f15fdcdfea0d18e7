import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import type { JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { useApi } from '#web/api.ts'
import { translateMessage } from '#web/words/messages.ts'
import { formOf } from '../document/value.ts'
import { TextInput } from '../fields/inputs.tsx'
import { useFieldScope } from '../fields/scope.tsx'

// Fields whose choices the service lists: they can be selected once there is a credential, and typed at any time.

type Asked = { service: string; credentialId: string | undefined; args: JsonObject; presets: readonly string[] | null }

const Context = createContext<Asked | null>(null)

/** Returns the known services whose credentials fit the edited node; null if any credential may fit. */
export const useFittingPresets = (): readonly string[] | null => useContext(Context)?.presets ?? null

export function ServiceChoices({
  service,
  args,
  presets,
  children,
}: {
  service: string
  args: JsonObject
  /** Null: any credential may fit. */
  presets: readonly string[] | null
  children: ReactNode
}) {
  const asked = useMemo(() => {
    const given = isObject(args.args) ? args.args : {}
    return {
      service,
      presets,
      credentialId:
        typeof args.credential_id === 'string' && args.credential_id !== '' ? args.credential_id : undefined,
      args: Object.fromEntries(Object.entries(given).filter(([, value]) => formOf(value) === 'literal')) as JsonObject,
    }
  }, [service, args, presets])
  return <Context.Provider value={asked}>{children}</Context.Provider>
}

export function ChoiceField({
  id,
  options,
  value,
  onChange,
}: {
  id: string
  options: string
  value: string
  onChange(value: string): void
}) {
  const { readOnly } = useFieldScope()
  const asked = useContext(Context)
  const [wanted, setWanted] = useState(false)
  const { data, error, isFetching } = useApi(
    'listServiceOptions',
    {
      service: asked?.service ?? '',
      options,
      args: asked?.args ?? {},
      ...(asked?.credentialId !== undefined && { credential_id: asked.credentialId }),
    },
    { enabled: wanted && asked !== null && !readOnly, retry: false, staleTime: 60_000 },
  )
  return (
    <>
      <TextInput
        id={id}
        list={`${id}-choices`}
        disabled={readOnly}
        value={value}
        onFocus={() => setWanted(true)}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={`${id}-choices`}>
        {data?.options.map((choice) => (
          <option key={String(choice.value)} value={String(choice.value)}>
            {choice.label}
          </option>
        ))}
      </datalist>
      {wanted && isFetching && <p className="text-xs text-ink-3">Loading choices…</p>}
      {wanted && error && <p className="text-xs text-ink-3">No choices: {translateMessage(error.message)}</p>}
    </>
  )
}
