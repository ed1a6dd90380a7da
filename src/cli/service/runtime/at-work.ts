/** Who of these holds a runtime that answers nobody. */
export function holderOf(environments: readonly string[]): string {
  const [one, ...others] = environments;
  if (one === undefined) return "code of an environment";
  return others.length === 0 ? `environment ${one}` : `one of the environments ${environments.join(", ")}`;
}

/** Environments whose code runs in the runtime of this process, as it says itself: kept here, where it can be read when the runtime answers nobody. */
export class EnvironmentsAtWork {
  readonly #byId = new Map<string, string>();

  /** Each once, ascending. */
  get names(): readonly string[] {
    return [...new Set(this.#byId.values())].sort();
  }

  /** Takes what the runtime says (`AT_WORK_PATH`). */
  hear(method: string, query: URLSearchParams): void {
    const [id, environment] = [query.get("id"), query.get("environment")];
    if (id === null || environment === null) return;
    if (method === "DELETE") this.#byId.delete(id);
    else this.#byId.set(id, environment);
  }

  /** Another runtime begins. */
  forget(): void {
    this.#byId.clear();
  }
}
