/** A mutant that no test can notice, because the program does the same with it. */
export type Equivalent = { file: string; line: string; what: string; why: string }

/** `line` is the source line without its indentation; `what` is printed with a survivor. Each was looked at by a person. */
export const equivalents: Equivalent[] = []
