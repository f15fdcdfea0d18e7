// The part of the Protocol Buffers wire format that OTLP needs: a field is its number and wire type, followed by its
// value.

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2

/** Supports numbers up to 2^53. The OTLP messages here contain no larger varints. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  while (left > 127) {
    bytes.push((left % 128) | 128)
    left = Math.floor(left / 128)
  }
  bytes.push(left)
  return Buffer.from(bytes)
}

const tag = (field: number, kind: number): Buffer => varint(field * 8 + kind)

const sized = (field: number, value: Uint8Array): Buffer =>
  Buffer.concat([tag(field, LENGTH), varint(value.length), value])

export const bytes = (field: number, value: Uint8Array): Buffer => sized(field, value)
export const text = (field: number, value: string): Buffer => sized(field, Buffer.from(value))
export const message = (field: number, ...parts: Uint8Array[]): Buffer => sized(field, Buffer.concat(parts))
export const integer = (field: number, value: number): Buffer => Buffer.concat([tag(field, VARINT), varint(value)])

export function fixed64(field: number, value: bigint): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64LE(value)
  return Buffer.concat([tag(field, FIXED64), buffer])
}

export function double(field: number, value: number): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeDoubleLE(value)
  return Buffer.concat([tag(field, FIXED64), buffer])
}

/** Encodes repeated eight-byte numbers as one packed field. */
export function packedFixed64(field: number, values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 8)
  for (const [at, value] of values.entries()) buffer.writeBigUInt64LE(BigInt(value), at * 8)
  return sized(field, buffer)
}

export function packedDoubles(field: number, values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 8)
  for (const [at, value] of values.entries()) buffer.writeDoubleLE(value, at * 8)
  return sized(field, buffer)
}
