import { type McpSession, resultIn, sessionOver } from '#engine/agents/mcp-client'
import { NodeFailure } from '#engine/node'
import type { JsonObject } from '#model/definition'
import type { ServiceEffect } from '#providers/services/manifest'
import type { ProgramCall, ProgramRunner } from '#providers/services/programs/runner'
import { asNodeFailure } from './call-piece.ts'

/**
 * Returns a session with an MCP server that runs in a sandboxed process. The process stays warm, so the session needs
 * no end.
 */
export function programSession(
  programs: ProgramRunner,
  call: Omit<ProgramCall, 'method' | 'params'>,
  effect: ServiceEffect,
): McpSession {
  const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
    try {
      const { answer, sent, refused } = await programs.ask({ ...call, method, params })
      const [first] = refused
      if (first && (answer.error !== undefined || isFailed(answer.result)))
        throw new NodeFailure(first.code, first.message, {
          retryable: first.retryable && (effect === 'read' || sent === 0),
          nothingDone: effect === 'read' || sent === 0,
        })
      return resultIn(answer, method)
    } catch (error) {
      throw asNodeFailure(error, effect)
    }
  }
  return sessionOver(ask, async () => {})
}

const isFailed = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && (result as { isError?: unknown }).isError === true
