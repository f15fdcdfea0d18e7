/** The operators of a shared service; `makeOperator` creates them one after another. */
export const operatorsOfShared: readonly string[] = Array.from({ length: 100 }, (_, n) => `operator-${n}@example.com`)
