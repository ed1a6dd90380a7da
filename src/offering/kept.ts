/** Things of known sizes that are read once and kept, the last used ones, as many as fit. */
export class Kept<T> {
  readonly #most: number;
  readonly #kept = new Map<string, { readonly value: T; readonly size: number }>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** What is kept under the name, or what `read` gives, which is kept where it fits. */
  async of(name: string, read: () => Promise<{ readonly value: T; readonly size: number } | null>): Promise<T | null> {
    const known = this.#kept.get(name);
    if (known !== undefined) {
      this.#kept.delete(name);
      this.#kept.set(name, known);
      return known.value;
    }
    const found = await read();
    if (found === null) return null;
    this.#keep(name, found);
    return found.value;
  }

  #keep(name: string, found: { readonly value: T; readonly size: number }): void {
    if (found.size > this.#most) return;
    const before = this.#kept.get(name);
    this.#size += found.size - (before?.size ?? 0);
    this.#kept.delete(name);
    this.#kept.set(name, found);
    for (const [oldest, { size }] of this.#kept) {
      if (this.#size <= this.#most) return;
      this.#kept.delete(oldest);
      this.#size -= size;
    }
  }
}
