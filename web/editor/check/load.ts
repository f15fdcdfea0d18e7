import { useEffect, useState } from 'react'

export type Check = typeof import('./check.ts')

let loading: Promise<Check> | undefined
let loaded: Check | undefined

/** Loads CEL, RE2 and JSON Schema after the canvas is shown. */
export function loadCheck(): Promise<Check> {
  loading ??= import('./check.ts').then((module) => {
    loaded = module
    return module
  })
  return loading
}

export function useCheck(): Check | undefined {
  const [check, setCheck] = useState(loaded)
  useEffect(() => {
    if (!check) void loadCheck().then(setCheck)
  }, [check])
  return check
}
