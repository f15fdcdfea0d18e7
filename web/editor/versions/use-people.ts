import { usePeople as usePeopleHere } from '#web/people.tsx'
import { useMe } from '#web/session.tsx'
import { t } from '#web/words/language.ts'

/** Returns a function that gives the name of a person in this workspace. */
export function usePeople(): (userId: string | null) => string {
  const { user } = useMe()
  const { list } = usePeopleHere()
  return (userId) => {
    if (userId === user.user_id) return t('You')
    return list.find((member) => member.user_id === userId)?.name ?? t('Someone')
  }
}
