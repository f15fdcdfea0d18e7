/** Who operators of a shared service are; `makeOperator` makes one after another. */
export const operatorsOfShared: readonly string[] = Array.from({ length: 100 }, (_, n) => `operator-${n}@example.com`)
