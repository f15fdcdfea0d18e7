// The part of BSON that drivers and the server of the tests exchange. Unknown types are refused.

export type Bson =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | Buffer
  | ObjectId
  | Bson[]
  | { [name: string]: Bson | undefined }
export type Document = { [name: string]: Bson | undefined }

export class ObjectId {
  readonly bytes: Buffer
  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

const isDocument = (value: Bson): value is Document =>
  typeof value === 'object' && value !== null && !Buffer.isBuffer(value) && !(value instanceof Date)

function element(name: string, value: Bson): Buffer {
  const key = Buffer.from(`${name}\0`)
  const of = (type: number, ...content: Buffer[]): Buffer => Buffer.concat([Buffer.from([type]), key, ...content])
  if (value === null) return of(10)
  if (typeof value === 'boolean') return of(8, Buffer.from([value ? 1 : 0]))
  if (typeof value === 'bigint') return of(18, int64(value))
  if (typeof value === 'number') return Number.isInteger(value) ? of(16, int32(value)) : of(1, double(value))
  if (typeof value === 'string') {
    const text = Buffer.from(`${value}\0`)
    return of(2, int32(text.length), text)
  }
  if (value instanceof Date) return of(9, int64(BigInt(value.getTime())))
  if (value instanceof ObjectId) return of(7, value.bytes)
  if (Buffer.isBuffer(value)) return of(5, int32(value.length), Buffer.from([0]), value)
  if (Array.isArray(value)) return of(4, encode(Object.fromEntries(value.entries())))
  if (isDocument(value)) return of(3, encode(value))
  throw new Error(`${name} cannot be said`)
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}
const int64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}
const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

export function encode(document: Document): Buffer {
  const elements = Object.entries(document).flatMap(([name, value]) =>
    value === undefined ? [] : [element(name, value)],
  )
  const content = Buffer.concat([...elements, Buffer.from([0])])
  return Buffer.concat([int32(content.length + 4), content])
}

export function decode(bytes: Buffer): Document {
  const size = bytes.readInt32LE(0)
  if (size > bytes.length || bytes[size - 1] !== 0) throw new Error('a document is cut off')
  const document: Document = {}
  for (let at = 4; at < size - 1; ) {
    const type = bytes[at]!
    const end = bytes.indexOf(0, at + 1)
    const name = bytes.toString('utf8', at + 1, end)
    const { value, next } = read(type, bytes, end + 1)
    document[name] = value
    at = next
  }
  return document
}

function read(type: number, bytes: Buffer, at: number): { value: Bson; next: number } {
  switch (type) {
    case 1:
      return { value: bytes.readDoubleLE(at), next: at + 8 }
    case 2: {
      const size = bytes.readInt32LE(at)
      return { value: bytes.toString('utf8', at + 4, at + 3 + size), next: at + 4 + size }
    }
    case 3:
    case 4: {
      const size = bytes.readInt32LE(at)
      const inner = decode(bytes.subarray(at, at + size))
      return { value: type === 4 ? (Object.values(inner) as Bson[]) : inner, next: at + size }
    }
    case 5: {
      const size = bytes.readInt32LE(at)
      return { value: bytes.subarray(at + 5, at + 5 + size), next: at + 5 + size }
    }
    case 7:
      return { value: new ObjectId(bytes.subarray(at, at + 12)), next: at + 12 }
    case 8:
      return { value: bytes[at] === 1, next: at + 1 }
    case 9:
      return { value: new Date(Number(bytes.readBigInt64LE(at))), next: at + 8 }
    case 10:
      return { value: null, next: at }
    case 16:
      return { value: bytes.readInt32LE(at), next: at + 4 }
    case 17:
    case 18:
      return { value: bytes.readBigInt64LE(at), next: at + 8 }
    default:
      throw new Error(`BSON type ${type} is not known here`)
  }
}
