import { ShortId } from '#web/ui/short-id.tsx'

/** What operators see of all tenants carries names to them alone. */
export const Named = ({ name, id }: { name: string | undefined; id: string }) =>
  name === undefined ? <ShortId id={id} /> : <span title={id}>{name}</span>
