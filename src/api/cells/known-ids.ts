import type { ExampleId } from "../../cells/column-lines.ts";

/** Ids that an isolate keeps: some megabytes. */
const KEPT = 500_000;

/** Ids of pinned examples by the digest of their chunk, which says what is in it: a page that follows a run asks for the same ones each second. The least lately used go. */
export class KnownIds {
  readonly #most: number;
  readonly #byDigest = new Map<string, readonly ExampleId[]>();
  #kept = 0;

  constructor(most = KEPT) {
    this.#most = most;
  }

  async of(digest: string, read: () => Promise<readonly ExampleId[]>): Promise<readonly ExampleId[]> {
    const known = this.#byDigest.get(digest);
    const ids = known ?? (await read());
    if (this.#byDigest.delete(digest)) this.#kept -= ids.length;
    this.#byDigest.set(digest, ids);
    this.#kept += ids.length;
    for (const [oldest, { length }] of this.#byDigest) {
      if (this.#kept <= this.#most) break;
      this.#byDigest.delete(oldest);
      this.#kept -= length;
    }
    return ids;
  }
}
