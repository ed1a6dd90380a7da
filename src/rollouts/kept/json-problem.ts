import { MAX_KEPT_STATE_BYTES, MAX_ROW_DEPTH, MIB } from "../../limits.ts";

/** Why a value is no JSON, and where in the state it stands. */
export interface JsonProblem {
  /** As one would write it: `state.board.guesses[2].check`. */
  readonly path: string;
  /** Goes on from the path: "is a function". */
  readonly problem: string;
}

/** A path is for a person: keys are the environment's, or a model's. */
const MAX_PATH = 200;
const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;

/** The state is larger than what is kept of one: noticed early, so that nothing of that size is built. */
export const TOO_LARGE: JsonProblem = { path: "state", problem: `is larger than ${MAX_KEPT_STATE_BYTES / MIB} MiB` };

/** How one writes a key behind what has it. */
export const keyPath = (key: string): string => (PLAIN_KEY.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

/**
 * Looks whether values come back from JSON as they are. Holds the sum of what it has seen, so that one of them looks through all parts of a
 * state. A key whose value is `undefined` is no problem: it reads the same when it is not there.
 */
export class JsonCheck {
  #left: number;
  readonly #above = new Set<object>();
  #hasNegativeZero = false;

  /** `bytes`: what all that is looked through may have, about. */
  constructor(bytes = MAX_KEPT_STATE_BYTES) {
    this.#left = bytes;
  }

  /** The characters of JSON that are left, about. */
  get left(): number {
    return this.#left;
  }

  /** The first problem of `value`, which stands at `path`; null when it has none. Never throws. */
  problemOf(value: unknown, path: string): JsonProblem | null {
    try {
      const found = this.#look(value);
      if (found === null || found === TOO_LARGE) return found;
      const whole = path + found.path;
      return { path: whole.length > MAX_PATH ? `${whole.slice(0, MAX_PATH)}…` : whole, problem: found.problem };
    } catch (thrown) {
      return { path, problem: `cannot be read (${thrown instanceof Error ? thrown.message : typeof thrown})` };
    } finally {
      this.#above.clear();
    }
  }

  /** JSON of a value that was looked through, by which it comes back as it is: of a minus zero too, as servers give for a sure token. */
  textOf(value: unknown): string {
    return this.#hasNegativeZero ? JSON.stringify(value, signed) : JSON.stringify(value);
  }

  /** The path from the value on is put together on the way back: almost nothing has a problem. */
  #look(value: unknown): JsonProblem | null {
    // A byte for the value, one for what parts it from the next.
    this.#left -= typeof value === "string" ? value.length + 3 : 2;
    if (this.#left < 0) return TOO_LARGE;
    switch (typeof value) {
      case "string":
      case "boolean":
        return null;
      case "number":
        if (value === 0 && Object.is(value, -0)) this.#hasNegativeZero = true;
        return Number.isFinite(value) ? null : { path: "", problem: `is ${value}` };
      case "object":
        return value === null ? null : this.#lookInto(value);
      case "undefined":
        return { path: "", problem: "is undefined" };
      default:
        return { path: "", problem: `is a ${typeof value}` };
    }
  }

  #lookInto(value: object): JsonProblem | null {
    if (this.#above.has(value)) return { path: "", problem: "contains itself" };
    if (this.#above.size >= MAX_ROW_DEPTH) return { path: "", problem: `is below ${MAX_ROW_DEPTH} others` };
    const prototype: unknown = Object.getPrototypeOf(value);
    if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return { path: "", problem: `is a ${classOf(value)}` };
    this.#above.add(value);
    const problem = Array.isArray(value) ? this.#lookThrough(value) : this.#lookAtFields(value as Record<string, unknown>);
    this.#above.delete(value);
    return problem;
  }

  #lookThrough(list: readonly unknown[]): JsonProblem | null {
    for (let index = 0; index < list.length; index++) {
      const problem = this.#look(list[index]);
      if (problem !== null) return below(`[${index}]`, problem);
    }
    return null;
  }

  #lookAtFields(object: Record<string, unknown>): JsonProblem | null {
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (value === undefined) continue;
      this.#left -= key.length + 3;
      const problem = this.#look(value);
      if (problem !== null) return below(keyPath(key), problem);
    }
    return null;
  }
}

/** Newer than the types of the language. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
const signed = (_key: string, value: unknown): unknown => (Object.is(value, -0) ? rawJSON("-0") : value);

const below = (step: string, problem: JsonProblem): JsonProblem => (problem === TOO_LARGE ? problem : { ...problem, path: step + problem.path });

function classOf(value: object): string {
  const { name } = value.constructor as { name?: unknown };
  return typeof name === "string" && name !== "" ? name : "class instance";
}
