import { useState } from 'react'
import type { JsonObject, Node } from '#model/definition'
import { isObject } from '#model/json'
import { CreateHere } from '#web/features/credentials/create-here.tsx'
import { Button } from '#web/ui/button.tsx'

const SECRET = /^(authorization|proxy-authorization|cookie|.*(api[-_]?key|token|secret|password).*)$/i

/** Warns about a secret in a header: everyone who can see the workflow can read it. */
export function SecretHeaders({ node, onChange }: { node: Node; onChange(args: JsonObject): void }) {
  const [open, setOpen] = useState(false)
  const args = node.args ?? {}
  const headers = isObject(args.headers) ? args.headers : {}
  const found = Object.entries(headers).find(([name, value]) => SECRET.test(name) && typeof value === 'string')
  if (node.type !== 'http.request' || found === undefined) return null
  const [name, value] = [found[0], String(found[1])]
  const bearer = /^bearer (.+)$/i.exec(value)?.[1]
  const host = typeof args.url === 'string' && URL.canParse(args.url) ? new URL(args.url).host : ''
  return (
    <div role="status" className="rounded bg-waiting-soft px-2.5 py-2 text-waiting">
      <p>The header “{name}” holds a secret that everybody who sees this workflow can read.</p>
      <Button size="small" className="mt-2" onClick={() => setOpen(true)}>
        Move to a credential
      </Button>
      <CreateHere
        open={open}
        onClose={() => setOpen(false)}
        kind={bearer ? 'bearer' : 'header'}
        given={{
          name: host || name,
          hosts: [host],
          ...(bearer ? { config: {}, secrets: { token: bearer } } : { config: { name }, secrets: { value } }),
        }}
        onCreated={({ credential_id }) => {
          const rest = Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name))
          const { headers: _headers, ...others } = args
          onChange({ ...others, ...(Object.keys(rest).length > 0 && { headers: rest }), credential_id })
        }}
      />
    </div>
  )
}
