export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * One range of a `Range` header (RFC 9110, 14.1.2) over `size` bytes. Null: none asked for, or not one we serve (other units,
 * several ranges, bad syntax), which the RFC answers with the whole file.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "");
  if (match === null) return null;
  const [, from = "", to = ""] = match;
  if (from === "" && to === "") return null;
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length === 0 ? "unsatisfiable" : { offset: size - length, length };
  }
  const offset = Number(from);
  const end = to === "" ? size : Math.min(Number(to) + 1, size);
  if (to !== "" && Number(to) < offset) return null;
  return offset >= size ? "unsatisfiable" : { offset, length: end - offset };
}
