import type { Answer, CallOptions } from './service.ts'
import { call } from './service.ts'

/** A client that keeps cookies as a browser does, for tests of sessions. */
export type Browser = {
  readonly cookies: Map<string, string>
  call(method: string, path: string, options?: Omit<CallOptions, 'method'>): Promise<Answer>
}

export function makeBrowser(base: string): Browser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async call(method, path, options = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const headers = { ...(cookie !== '' && { cookie }), ...options.headers }
      const answer = await call(base, method, path, { ...options, headers })
      for (const text of answer.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(text)!
        if (/max-age=0/i.test(text)) cookies.delete(name!)
        else cookies.set(name!, value!)
      }
      return answer
    },
  }
}

let counter = 0
export const freshEmail = (): string => `someone-${process.pid}-${++counter}@example.com`
export const PASSWORD = 'correct horse battery'

/** Signs up a new person; the returned browser has their session. */
export async function signUp(
  base: string,
  body: Record<string, unknown> = {},
): Promise<{ browser: Browser; answer: Answer }> {
  const browser = makeBrowser(base)
  const answer = await browser.call('POST', '/auth/sign-up', {
    body: { email: freshEmail(), password: PASSWORD, name: 'Ann', ...body },
  })
  return { browser, answer }
}
