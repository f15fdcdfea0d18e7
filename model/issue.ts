/** An error in a value: `path` is a JSON Pointer to the place. */
export type Issue = { path: string; message: string }
