/** What a value costs that is not made of characters, and what each entry of a list or a map costs beside its characters. */
const ENTRY = 16;

/** Characters of what a fold keeps of an event, whatever its server put there; about what it takes in memory. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return ENTRY + value.length;
  // An event is no longer than an answer may be, so that neither is this.
  return typeof value === "object" && value !== null ? ENTRY + JSON.stringify(value).length : ENTRY;
}

/** Everything beside the choices of a streamed answer: of each field the last that is not null. */
export class StreamHead {
  readonly fields: Record<string, unknown> = {};
  readonly #sizes = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  set(name: string, value: unknown): void {
    if (value === null || value === undefined) return;
    // Most chunks repeat what the one before said.
    if (value === this.fields[name]) return;
    const size = name.length + sizeOf(value);
    this.#size += size - (this.#sizes.get(name) ?? 0);
    this.#sizes.set(name, size);
    Object.defineProperty(this.fields, name, { value, enumerable: true, configurable: true, writable: true });
  }

  addAll(fields: Readonly<Record<string, unknown>>): void {
    for (const name in fields) if (Object.hasOwn(fields, name)) this.set(name, fields[name]);
  }
}
