type Verb<Deps> = (deps: Deps, ...rest: never[]) => unknown

type Bound<Verbs> = {
  [Name in keyof Verbs]: Verbs[Name] extends (deps: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never
}

/**
 * Converts functions `(deps, …rest)` to functions `(…rest)`: an area writes its verbs as plain functions, and routes
 * call them without their dependencies.
 */
export function bindVerbs<Deps, Verbs extends Record<string, Verb<Deps>>>(deps: Deps, verbs: Verbs): Bound<Verbs> {
  const bound = Object.entries(verbs).map(([name, verb]) => [name, (...rest: never[]) => verb(deps, ...rest)] as const)
  return Object.fromEntries(bound) as Bound<Verbs>
}
