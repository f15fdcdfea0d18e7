/**
 * One link of the chain that led to an execution: what kind of thing it is, its id on the wire, and the person behind it
 * (who created the token, added the workflow to the template, owns the job).
 */
export type Initiator = {
  kind:
    | 'person'
    | 'webhook_token'
    | 'embed_token'
    | 'template'
    | 'channel'
    | 'schedule'
    | 'job'
    | 'suite'
    | 'execution'
    | 'error_workflow'
    | 'event'
    | 'retry'
    | 'service_account'
  id: string | null
  user_id: string | null
}
