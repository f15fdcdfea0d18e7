import { useCallback } from 'react'
import { useApi } from '#web/api.ts'
import { t } from '#web/words/language.ts'

/** What kinds of steps are called in the palette; until that is known, or where it is not there, by their own name. */
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
