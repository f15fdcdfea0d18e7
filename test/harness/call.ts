// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export type Answer = { status: number; headers: Headers; text: string; body: any }

export type CallOptions = {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  /** An API key, a webhook token or an embed token. */
  token?: string
  workspace?: string
  raw?: string | Buffer | FormData
}

/** One request to the service that listens there. */
export async function callAt(base: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const headers = new Headers(options.headers)
  if (options.token) headers.set('authorization', `Bearer ${options.token}`)
  if (options.workspace) headers.set('x-workspace-id', options.workspace)
  let body: string | Buffer | FormData | undefined = options.raw
  if (options.body !== undefined) {
    body = JSON.stringify(options.body)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  }
  const response = await fetch(base + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: body as BodyInit }),
  })
  const text = await response.text()
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  }
}
