import { Link } from '@tanstack/react-router'
import { useApi } from '#web/api.ts'
import { Section } from '#web/ui/page.tsx'
import { Loaded } from '#web/ui/states.tsx'

/** What would stop working without the credential. */
export function Usage({ credentialId }: { credentialId: string }) {
  const usage = useApi('getCredentialUsage', { credential_id: credentialId })
  return (
    <Section title="Used by">
      <Loaded of={usage} what="what uses it">
        {({ workflows, jobs, templates }) => {
          const rows = [
            ...workflows.map(({ workflow_id, name, versions }) => ({
              to: `/workflows/${workflow_id}`,
              name,
              what: versions.some(({ active }) => active) ? 'workflow' : 'workflow, in older versions',
            })),
            ...jobs.map(({ job_id, name }) => ({ to: `/jobs/${job_id}`, name, what: 'job' })),
            ...templates.map(({ template_id, name }) => ({ to: `/templates/${template_id}`, name, what: 'template' })),
          ]
          if (rows.length === 0) return <p className="text-ink-2">Nothing that you can see uses it.</p>
          return (
            <ul className="flex flex-col gap-1">
              {rows.map(({ to, name, what }) => (
                <li key={to}>
                  <Link to={to} className="text-accent hover:underline">
                    {name}
                  </Link>{' '}
                  <span className="text-ink-2">{what}</span>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Section>
  )
}
