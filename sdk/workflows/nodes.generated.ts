// Printed from the registry by `npm run generate`. Do not edit.

import { define, type Spec } from './build.ts'
import type { Resolved, Untyped } from './values.ts'

export const agent = { review: define<{ title?: string; payload: Untyped; instructions: string; name?: string; model?: string; credential_id?: string; fallback_credential_id?: string }, { decision?: "approve" | "reject" | "abstain"; rationale?: string; confidence?: number | null; evidence?: Array<string>; usage?: { input_tokens: number; output_tokens: number; cost?: number; estimated?: boolean } | null }, "out">("agent.review"), run: define<{ goal: string; instructions?: string; tools?: Array<string | { type: string; arguments?: { fixed?: Record<string, Untyped>; allowed?: Record<string, Array<Untyped>> }; approval?: { approvers: Array<{ kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string }>; quorum?: "any" | "all" | { n_of: number } | { $cel: string }; veto?: Array<"owner" | "member" | "viewer" | "guest">; allow_self?: boolean; due_in_s?: number; on_due?: "reject" | "approve" | "escalate"; escalate_to?: Array<{ kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string }> | { kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string } } } | { workflow_id: string; arguments?: { fixed?: Record<string, Untyped>; allowed?: Record<string, Array<Untyped>> }; approval?: { approvers: Array<{ kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string }>; quorum?: "any" | "all" | { n_of: number } | { $cel: string }; veto?: Array<"owner" | "member" | "viewer" | "guest">; allow_self?: boolean; due_in_s?: number; on_due?: "reject" | "approve" | "escalate"; escalate_to?: Array<{ kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string }> | { kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string } } } | { service: string; action: string; credential_id?: string; arguments?: { fixed?: Record<string, Untyped>; allowed?: Record<string, Array<Untyped>> }; approval?: { approvers: Array<{ kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string }>; quorum?: "any" | "all" | { n_of: number } | { $cel: string }; veto?: Array<"owner" | "member" | "viewer" | "guest">; allow_self?: boolean; due_in_s?: number; on_due?: "reject" | "approve" | "escalate"; escalate_to?: Array<{ kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string }> | { kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string } } }>; mcp?: Array<{ url: string; credential_id?: string; headers?: Record<string, string>; tools?: Array<string> }> | { url: string; credential_id?: string; headers?: Record<string, string>; tools?: Array<string> }; max_steps?: number; max_tokens?: number; max_cost?: number; output_schema?: Record<string, Untyped>; model?: string; credential_id?: string; fallback_credential_id?: string; temperature?: number }, { answer?: string; value?: Untyped; steps?: Array<{ turn?: number; text?: string; calls?: Array<{ tool?: string; arguments?: Untyped; ok?: boolean; result?: Untyped; edited_by?: string }> }>; usage?: { input_tokens: number; output_tokens: number; cost?: number; estimated?: boolean } }, "out">("agent.run") }

/** Waits for people and, optionally, agents to vote on the content under review. */
export const approval = define<{ title: string; payload?: Untyped; policy: { approvers: Array<{ kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string }>; quorum?: "any" | "all" | { n_of: number } | { $cel: string }; veto?: Array<"owner" | "member" | "viewer" | "guest">; allow_self?: boolean; due_in_s?: number; on_due?: "reject" | "approve" | "escalate"; escalate_to?: Array<{ kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string }> | { kind: "user" | "team" | "role" | "agent"; id: string; name?: string; instructions?: string; model?: string; credential_id?: string } } }, { status?: string; votes?: Array<Untyped> }, "approved" | "rejected">("approval")

/** Continues on the port of the first case that is true, otherwise on "default". */
export const branch = define<{ cases: Array<{ port: string; when: { $cel: string } }> }, Untyped, string>("branch")

export const channel = { send: define<{ config_id: string; to: string; text: string }, { channel?: string; state?: "queued" | "sent" }, "out">("channel.send") }

/** Asks a person and waits for an answer that matches the schema. The first valid answer wins. */
export const clarification = define<{ question: string; schema?: Record<string, Untyped>; who?: Array<{ kind: "user" | "team" | "role"; id: string } | string>; due_in_s?: number; on_due?: "fail" | "default" | "escalate"; default?: Untyped; reuse?: { key: Untyped; for_s: number; use?: "take" | "offer" } }, Untyped, "out">("clarification")

/** Runs JavaScript or TypeScript with the input: the body of a function, or a module with export default (input) => … The code has no network, files or packages. */
export const code = define<{ source: string; input?: Untyped; limits?: { time_ms?: number; memory_mb?: number } }, Untyped, "out">("code")

export const dataset = { profile: define<{ dataset_id: string }, { dataset_id?: string; name?: string; sha256?: string; record_count?: number; size_bytes?: number; columns?: Array<{ name?: string; types?: Array<string>; nulls?: number; distinct?: number; distinct_more?: boolean; min?: Untyped; max?: Untyped; mean?: Untyped; shortest?: Untyped; longest?: Untyped; common?: Array<Untyped> }> }, "out">("dataset.profile"), read: define<{ dataset_id: string; where?: Record<string, Untyped>; limit?: number }, { records?: Array<Record<string, Untyped>>; sha256?: string }, "out">("dataset.read"), write: define<Untyped, { dataset_id?: string; sha256?: string; record_count?: number }, "out">("dataset.write") }

/** Fails the run with your own code and message. */
export const fail = define<{ code?: string; message: string }, Untyped, string>("fail")

export const file = { convert: define<Untyped, { rows?: Array<Record<string, Untyped>>; json?: Untyped; text?: string; file?: Record<string, Untyped>; files?: Array<Untyped> }, "out">("file.convert"), read: define<{ file: { $file: { file_id: string } }; as?: "text" | "json" | "base64"; encoding?: string }, { name?: string; media_type?: string; bytes?: number; content?: Untyped }, "out">("file.read"), write: define<Untyped, { $file?: Record<string, Untyped> }, "out">("file.write") }

export const http = { request: define<{ method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"; url: string; credential_id?: string; headers?: Record<string, string | number | boolean>; query?: Record<string, string | number | boolean | null | Array<string | number | boolean | null>>; json?: Untyped; body?: string | { $file: { file_id: string } }; multipart?: Record<string, string | number | boolean | { $file: { file_id: string } } | Array<string | number | boolean | { $file: { file_id: string } }>>; response?: "auto" | "text" | "file"; ok_statuses?: Array<number>; paginate?: { next: { $cel: string }; items: { $cel: string }; max_pages?: number }; rate?: { limit: number; per_s: number } }, { status?: number; headers?: Record<string, string>; body?: Untyped; items?: Array<Untyped>; pages?: number; more?: boolean }, "out">("http.request"), respond: define<{ status?: number; headers?: Record<string, string>; body?: Untyped }, { status?: number; headers?: Record<string, Untyped>; body?: Untyped }, "out">("http.respond") }

export const knowledge = { add: define<{ knowledge_id: string; text: string; name?: string }, { document_id?: string; name?: string }, "out">("knowledge.add"), search: define<{ knowledge_id: string; q: string; limit?: number }, { passages?: Array<{ document_id?: string; document_name?: string; url?: string | null; heading?: Array<string>; text?: string; from?: number; to?: number; score?: number }>; ranked_by?: string }, "out">("knowledge.search") }

export const llm = { extract: define<{ text: string; schema: Record<string, Untyped>; instructions?: string; model?: string; credential_id?: string; fallback_credential_id?: string; temperature?: number; max_tokens?: number }, { value?: Record<string, Untyped>; missing?: Array<string>; usage?: { input_tokens: number; output_tokens: number; cost?: number; estimated?: boolean } }, "out">("llm.extract"), generate: define<{ prompt: string; system?: string; model?: string; credential_id?: string; fallback_credential_id?: string; images?: Array<{ base64: string; content_type: string }>; temperature?: number; max_tokens?: number; stream?: boolean }, { text?: string; truncated?: boolean; usage?: { input_tokens: number; output_tokens: number; cost?: number; estimated?: boolean } }, "out">("llm.generate") }

/** Repeats a small graph, one turn after another, while or until a condition is true. The output of the body is the state of the next turn. */
export const loop = define<Untyped, { turns?: number; state?: Untyped; collected?: Array<Untyped> }, "out">("loop")

export const mail = { send: define<Untyped, { mail_id?: string; provider?: string; accepted?: Array<string>; rejected?: Array<string> }, "out">("mail.send") }

/** Runs a small graph once for every item of a list, several at a time, and collects the outputs in order. */
export const map = define<{ items: Array<Untyped>; body: { nodes: Array<Untyped>; edges?: Array<Untyped>; output?: Untyped }; concurrency?: number; on_item_error?: "fail" | "collect" }, Array<Untyped>, "out">("map")

export const mcp = { call: define<{ server: { url: string; credential_id?: string; headers?: Record<string, string> } | string; tool: string; arguments?: Record<string, Untyped> }, { content?: Array<Untyped>; structuredContent?: Record<string, Untyped> }, "out">("mcp.call") }

/** Sends a notification to people in the workspace. */
export const notify = define<{ user_ids?: Array<string>; title: string; body: string; link?: string }, { user_ids?: Array<string> }, "out">("notify")

export const odds = { fetch: define<{ date: string; regions?: Array<"us" | "us2" | "us_dfs" | "us_ex" | "uk" | "eu" | "fr" | "se" | "au">; markets?: Array<"h2h" | "spreads" | "totals" | "outrights" | "h2h_lay" | "outrights_lay"> }, { date?: string; games?: Array<Record<string, Untyped>>; provider?: string; fetched_at?: string }, "out">("odds.fetch") }

export const service = { call: define<{ service: string; action: string; credential_id?: string; args?: Record<string, Untyped> }, Untyped, "out">("service.call") }

/** Defines named values that later nodes can reference. */
export const set = <const V extends Record<string, unknown>>(args: { values: V }): Spec<Resolved<V>, "out"> => ({ type: "set", args })

export const state = { get: define<{ key: string; default?: Untyped }, { value?: Untyped; version?: number }, "out">("state.get"), set: define<{ key: string; value: Untyped; if_version?: number }, { version?: number }, "out">("state.set") }

/** Runs another workflow of the workspace and returns its results. */
export const subworkflow = define<{ workflow_id: string; workflow_ids?: Array<string>; version_id?: string; input?: Untyped; wait?: boolean }, Untyped, "out">("subworkflow")

/** Reshapes JSON with a JSONata expression: select, filter, group, compute. */
export const transform = define<{ expression: string; input?: Untyped }, Untyped, "out">("transform")

/** Pauses for a duration or until a point in time, up to one year. */
export const wait = Object.assign(define<Untyped, { waited_s?: number }, "out">("wait"), { event: define<{ key?: string; schema?: Record<string, Untyped>; due_in_s?: number; on_due?: "fail" | "continue" }, { data?: Untyped; event_id?: string | null; name?: string | null; received_at?: string; timed_out?: boolean }, "out">("wait.event") })

export const warehouse = { execute: define<Untyped, { affected?: number | null }, "out">("warehouse.execute"), query: define<{ connection_id: string; query: string; params?: Untyped; limit?: number }, { rows?: Array<Record<string, Untyped>>; columns?: Array<Record<string, Untyped>> }, "out">("warehouse.query") }

export const workspace = { usage: define<{ days?: number; include_jobs?: boolean }, { days?: number; members?: number; workflows?: number; executions?: Record<string, number> }, "out">("workspace.usage") }
