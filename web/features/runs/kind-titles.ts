import { useCallback } from 'react'
import { useApi } from '#web/api.ts'
import { t } from '#web/words/language.ts'

/**
 * Returns a function that gives the palette title of a kind of step; its type until the palette is loaded, or if the
 * palette does not contain it.
 */
export function useKindTitles(): (type: string) => string {
  const { data } = useApi('getPalette', {}, { staleTime: Number.POSITIVE_INFINITY })
  return useCallback(
    (type) => {
      const title = data?.groups.flatMap(({ nodes }) => nodes).find((kind) => kind.type === type)?.title
      return title === undefined ? type : t(title)
    },
    [data],
  )
}
