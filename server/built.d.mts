export type BuiltFile = [path: string, size: number, changedAt: number]
export const ENTRY: string
export const PACKAGED: string
export const BUILDS: string
export function findProgram(): string | undefined
export function findBuild(builds: string): string | undefined
export function recordBuild(builds: string, directory: string, files: BuiltFile[]): void
export function describe(path: string): BuiltFile
