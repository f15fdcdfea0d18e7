/** What is wrong with a value, and where: `path` is a JSON Pointer. */
export type Issue = { path: string; message: string }
