import { ShortId } from '#web/ui/short-id.tsx'

/** A name with its id. Only operators get the names of all tenants. */
export const Named = ({ name, id }: { name: string | undefined; id: string }) =>
  name === undefined ? <ShortId id={id} /> : <span title={id}>{name}</span>
