import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";

/**
 * Options of an environment that a run may set after it was loaded (`-x '{"max_turns": 20}'`): each class names its own, in
 * `settings()`, with the kind of value and what becomes of it.
 */
export interface Setting {
  readonly kind: string;
  /** Throws a `TypeError` for a value of another kind. */
  readonly set: (value: Json) => void;
}
export type Settings = Readonly<Record<string, Setting>>;

function ofKind<T extends Json>(kind: string, is: (value: Json) => value is T, set: (value: T) => void): Setting {
  return {
    kind,
    set: (value) => {
      if (!is(value)) throw new TypeError(`is ${JSON.stringify(value)}, not ${kind}`);
      set(value);
    },
  };
}

const isInteger = (value: Json): value is number => Number.isSafeInteger(value);
const isNumber = (value: Json): value is number => typeof value === "number" && Number.isFinite(value);

export const integer = (set: (value: number) => void): Setting => ofKind("an integer", isInteger, set);
export const number = (set: (value: number) => void): Setting => ofKind("a number", isNumber, set);
export const boolean = (set: (value: boolean) => void): Setting => ofKind("true or false", (value) => typeof value === "boolean", set);
export const text = (set: (value: string) => void): Setting => ofKind("a text", (value) => typeof value === "string", set);
/** The same, or null for "none". */
export const orNull = ({ kind, set }: Setting, clear: () => void): Setting => ({
  kind: `${kind} or null`,
  set: (value) => (value === null ? clear() : set(value)),
});

/** The kinds of settings, for classes that have some of their own: `setting.integer((value) => { … })`. */
export const setting = { integer, number, boolean, text, orNull } as const;

/** Applies `values` to what `settings` names. Throws `invalid_request` for a name that is not among them, listing those that are, and for a value of another kind. */
export function applySettings(owner: string, settings: Settings, values: JsonObject): void {
  const unknown = Object.keys(values).filter((name) => !Object.hasOwn(settings, name));
  const known = Object.entries(settings).map(([name, { kind }]) => `${name} (${kind})`);
  if (unknown.length > 0) throw new EdgewiseError("invalid_request", `${owner} has no option ${unknown.join(", ")}`, { hint: `it takes ${known.join(", ")}` });
  for (const [name, value] of Object.entries(values)) {
    try {
      settings[name]?.set(value);
    } catch (thrown) {
      if (thrown instanceof EdgewiseError) throw thrown;
      throw new EdgewiseError("invalid_request", `${owner}: option ${name} ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }
}
