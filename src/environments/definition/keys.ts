import { EdgewiseError } from "../../errors/result.ts";

/** The value of a key variable; null or undefined when it is not set. */
export type KeyLookup = (name: string) => string | null | undefined;

/** Keys that an environment declares and that are not there, all of them at once. */
export class MissingKeyError extends EdgewiseError {
  override readonly name: string = "MissingKeyError";
  readonly keys: readonly string[];

  constructor(
    keys: readonly string[],
    hint = `Type ${keys.map((key) => `\`export ${key}=…\``).join(" and ")} (deployed: \`wrangler secret put NAME\`), or \`npx edgewise secret create NAME\`.`,
  ) {
    super("missing_key", `the environment needs ${keys.length === 1 ? "a key that is" : "keys that are"} not set: ${keys.join(", ")}`, { hint });
    this.keys = keys;
  }
}

/** Where a process has its variables: Node, and workerd with Node's compatibility. */
export const processVariable: KeyLookup = (name) => {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
};

/**
 * The values of `names`, blanks around them taken off; a blank one counts as unset. Throws one `MissingKeyError` that lists every
 * name without a value. Looks into the variables of the process unless a host hands in its own `lookUp`.
 */
export function ensureKeys(names: readonly string[], lookUp: KeyLookup = processVariable, hint?: string): Readonly<Record<string, string>> {
  const found = names.map((name) => [name, lookUp(name)?.trim() ?? ""] as const);
  const missing = found.filter(([, value]) => value === "").map(([name]) => name);
  if (missing.length > 0) throw new MissingKeyError(missing, hint);
  return Object.fromEntries(found);
}
