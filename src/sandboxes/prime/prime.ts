import type { SandboxDriver } from "../driver.ts";
import { PrimeSandbox, primeBase } from "./prime-sandbox.ts";

/** Prime's sandboxes (primeintellect.ai). */
export const PRIME: SandboxDriver = {
  async problem({ env, key }) {
    const found = await key("PRIME_API_KEY", new URL(primeBase(env)).hostname);
    return found === null ? "PRIME_API_KEY is not set: type `npx edgewise secret create PRIME_API_KEY`, or set the variable of the service" : null;
  },
  open: (host) => new PrimeSandbox(host),
};
