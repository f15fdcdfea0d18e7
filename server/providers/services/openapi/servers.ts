import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'

// Determines the address of the vendor. Variables have the values that the document gives them.

function filled(url: string, variables: Json | undefined): string {
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = isObject(variables) ? variables[name] : undefined
    return isObject(variable) && typeof variable.default === 'string' ? variable.default : whole
  })
}

function absolute(url: string, documentUrl: string | undefined): string | undefined {
  if (!URL.canParse(url, documentUrl)) return undefined
  const parsed = new URL(url, documentUrl)
  const isUsable = /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password && !/[{}]|%7B/i.test(url)
  return isUsable ? parsed.origin + parsed.pathname.replace(/\/+$/, '') : undefined
}

/** Returns the server of a document, a path or an operation. Undefined if it names no usable server of its own. */
export function serverOf(owner: JsonObject, document: JsonObject, documentUrl: string | undefined): string | undefined {
  if (document.swagger !== undefined) {
    if (owner !== document) return undefined
    const [scheme] = [owner.schemes ?? []].flat()
    const host = typeof owner.host === 'string' ? owner.host : undefined
    const path = typeof owner.basePath === 'string' ? owner.basePath : ''
    const own = documentUrl !== undefined && URL.canParse(documentUrl) ? new URL(documentUrl) : undefined
    if (host === undefined && own === undefined) return undefined
    return absolute(`${scheme ?? own?.protocol.slice(0, -1) ?? 'https'}://${host ?? own?.host}${path}`, undefined)
  }
  const servers = Array.isArray(owner.servers) ? owner.servers : []
  for (const server of servers) {
    if (!isObject(server) || typeof server.url !== 'string') continue
    const found = absolute(filled(server.url, server.variables), documentUrl)
    if (found !== undefined) return found
  }
  return owner === document && servers.length === 0 && documentUrl !== undefined
    ? absolute('/', documentUrl)
    : undefined
}
