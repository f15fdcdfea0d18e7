import type { Json, JsonObject } from '#model/definition'

export type RequestBody =
  | { kind: 'none' }
  | { kind: 'text'; text: string; contentType: string }
  | { kind: 'file'; file: Json }
  | { kind: 'multipart'; parts: JsonObject }
  | { kind: 'related'; json: JsonObject; file: Json }
