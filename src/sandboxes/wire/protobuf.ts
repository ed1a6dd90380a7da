/** The little of protobuf's encoding (protobuf.dev/programming-guides/encoding) that commands take: numbers, and fields with a length. */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

/** One field of a message: a text, bytes or a message in it. */
export function lengthField(field: number, content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return concat(varint(field * 8 + LENGTH), varint(bytes.length), bytes);
}

export const concat = (...parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) + 0x80);
  return Uint8Array.from([...bytes, left]);
}

/** A field as it came: a number, or bytes. */
export type Field = { readonly field: number; readonly number: number } | { readonly field: number; readonly bytes: Uint8Array };

/** The fields of a message, in their order. Throws `RangeError` for what is none. */
export function* fieldsOf(message: Uint8Array): Generator<Field> {
  let at = 0;
  const read = (): number => {
    // Ten bytes at most; what a double cannot hold is no length and no number that is looked at.
    let value = 0;
    for (let scale = 1, read = 0; read < 10; scale *= 0x80, read++) {
      const byte = message[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a number of a message breaks off");
  };
  while (at < message.length) {
    const tag = read();
    const [field, kind] = [Math.floor(tag / 8), tag % 8];
    if (kind === VARINT) {
      yield { field, number: read() };
      continue;
    }
    const length = kind === LENGTH ? read() : kind === FIXED64 ? 8 : kind === FIXED32 ? 4 : -1;
    if (length < 0 || at + length > message.length) throw new RangeError("a field of a message breaks off");
    yield { field, bytes: message.subarray(at, at + length) };
    at += length;
  }
}

/** The number that a `sint32` stands for. */
export const zigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);
