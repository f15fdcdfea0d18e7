import { mergePatch } from '#model/merge-patch'
import { jsonSize } from '#model/size'
import { invalid } from './errors.ts'

type Fields = Record<string, unknown>

/**
 * Merges the patch of a field into its present value (RFC 7396). Null and undefined are returned unchanged. The result
 * is limited, because many small patches would otherwise create a value that no request could contain.
 */
export function mergeField<Patch extends Fields | null | undefined>(
  field: string,
  present: Fields,
  patch: Patch,
  maxSize: number,
): Patch | Fields {
  if (!patch) return patch
  const merged = mergePatch(present, patch)
  if (jsonSize(merged, maxSize) > maxSize)
    throw invalid([{ path: `/${field}`, message: `may have at most ${maxSize} characters as JSON` }])
  return merged
}
