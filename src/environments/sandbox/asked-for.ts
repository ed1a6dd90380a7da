import { namedSandbox, SANDBOX_KEYS, type SandboxChoice } from "../../config/sandbox-names.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { refusingSandbox } from "./no-sandboxes.ts";
import type { Sandbox } from "./sandbox.ts";

/** No sandboxes can be had: none are configured, not those that are asked for, or not by this environment. */
export class NoSandboxError extends EdgewiseError {
  override readonly name: string = "NoSandboxError";

  constructor(message: string, hint?: string) {
    super("sandbox_unavailable", message, hint === undefined ? {} : { hint });
  }
}

/** The driver that an environment with these keys of its own gets, of those that it may have. Throws `NoSandboxError`. */
export function sandboxFor(choice: SandboxChoice, wanted: string | undefined, keys: readonly string[]) {
  const named = namedSandbox(choice, wanted);
  if ("problem" in named) throw new NoSandboxError(named.problem);
  const held = SANDBOX_KEYS[named.name].filter((key) => keys.includes(key));
  if (held.length === 0) return named.name;
  throw new NoSandboxError(
    `the environment has ${held.join(", ")} as a key of its own; no environment gets the key that its sandboxes of ${named.name} are made with`,
  );
}

/** What an environment gets for a sandbox while it is looked at: whether it could have one is said at once, and nothing can be done with it. */
export const askedFor =
  (choice: SandboxChoice | undefined, keys: readonly string[]) =>
  (wanted?: string): Sandbox => {
    if (choice !== undefined) sandboxFor(choice, wanted, keys);
    return UNMADE;
  };

const UNMADE = refusingSandbox("sandboxes are made when rollouts run, not when their environment is loaded");
