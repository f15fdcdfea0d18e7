import type { ReactNode } from 'react'
import { type Crumb, Page } from './page.tsx'
import { type Fetched, Loaded } from './states.tsx'

/**
 * The page of one object. Until the object is loaded, and if it cannot be loaded, the page has a title and the way back
 * to the list.
 */
export function LoadedPage<Data>({
  of,
  what,
  title,
  crumbs,
  children,
}: {
  of: Fetched<Data>
  what: string
  title: string
  crumbs: Crumb[]
  children(data: Data): ReactNode
}) {
  if (of.data !== undefined) return children(of.data)
  return (
    <Page title={title} crumbs={crumbs}>
      <Loaded of={of} what={what}>
        {() => null}
      </Loaded>
    </Page>
  )
}
