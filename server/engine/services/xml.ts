import { type NodeCall, NodeFailure } from '#engine/node'
import { charsetOf, textOf } from '#engine/nodes/http-body'
import type { Json } from '#model/definition'
import type { Mask } from '#platform/outgoing/mask'
import type { OutgoingResponse } from '#platform/outgoing/outgoing'
import { type Conversion, ConversionFailure } from '#providers/conversion/index'
import { encodingOfXml } from '#providers/conversion/xml'

/** Returns XML as JSON, converted in the process for conversions: `{"a": {"@x": "1", "b": ["t", "u"]}}`. */
export async function xmlBody(
  conversion: Pick<Conversion, 'convert'>,
  { workspaceId, signal }: Pick<NodeCall, 'workspaceId' | 'signal'>,
  { headers, body }: Pick<OutgoingResponse, 'headers' | 'body'>,
  mask: Mask | undefined,
): Promise<Json> {
  if (body.length === 0) return {}
  // A charset in the content type takes precedence over the encoding in the document (RFC 7303).
  const charset = charsetOf(headers['content-type']) ?? encodingOfXml(body)
  const text = textOf({ headers: { 'content-type': `application/xml; charset=${charset ?? 'utf-8'}` }, body }, mask)
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.from(text)
  }
  const input = { name: 'answer.xml', media_type: 'application/xml', chunks }
  try {
    const { value } = await conversion.convert({
      workspaceId,
      from: 'xml',
      to: 'json',
      options: { encoding: 'utf-8' },
      inputs: [input],
      signal,
    })
    return (value ?? null) as Json
  } catch (error) {
    if (!(error instanceof ConversionFailure)) throw error
    throw new NodeFailure('response_unreadable', error.message, { retryable: false })
  }
}
