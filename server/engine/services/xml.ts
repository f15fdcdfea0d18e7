import { type NodeCall, NodeFailure } from '#engine/node'
import type { Json } from '#model/definition'
import { type Conversion, ConversionFailure } from '#providers/conversion/index'

/** Returns XML as JSON, converted in the process for conversions: `{"a": {"@x": "1", "b": ["t", "u"]}}`. */
export async function xmlBody(
  conversion: Pick<Conversion, 'convert'>,
  { workspaceId, signal }: Pick<NodeCall, 'workspaceId' | 'signal'>,
  bytes: Buffer,
): Promise<Json> {
  if (bytes.length === 0) return {}
  async function* chunks(): AsyncGenerator<Buffer> {
    yield bytes
  }
  const input = { name: 'answer.xml', media_type: 'application/xml', chunks }
  try {
    const { value } = await conversion.convert({
      workspaceId,
      from: 'xml',
      to: 'json',
      options: {},
      inputs: [input],
      signal,
    })
    return (value ?? null) as Json
  } catch (error) {
    if (!(error instanceof ConversionFailure)) throw error
    throw new NodeFailure('response_unreadable', error.message, { retryable: false })
  }
}
