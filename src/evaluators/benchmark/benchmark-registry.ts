/** Benchmarks by the ids that a program gives them. */
import { resolve } from "node:path";
import { EdgewiseError } from "../../errors/result.ts";

export class BenchmarkRegistry {
  readonly #folders = new Map<string, string>();

  get ids(): readonly string[] {
    return [...this.#folders.keys()];
  }

  /** `folder`: of a benchmark, from the working folder; it is looked into when the id is named. Throws `invalid_request` for an id that is taken. */
  register(id: string, folder: string): void {
    if (id === "") throw new EdgewiseError("invalid_request", "a benchmark needs an id");
    if (this.#folders.has(id)) throw new EdgewiseError("invalid_request", `a benchmark is called ${JSON.stringify(id)} already`);
    this.#folders.set(id, resolve(folder));
  }

  /** The folder, absolute; null where nobody registered the id. */
  find(id: string): string | null {
    return this.#folders.get(id) ?? null;
  }
}

/** Those of this process. */
export const BENCHMARKS = new BenchmarkRegistry();
