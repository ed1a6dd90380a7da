import type { SandboxDriver } from "../driver.ts";
import { E2bSandbox } from "./e2b-sandbox.ts";

/** Sandboxes of E2B (e2b.dev). */
export const E2B: SandboxDriver = {
  async problem({ env: { E2B_API_URL, E2B_DOMAIN = "e2b.app" }, key }) {
    const host = E2B_API_URL === undefined ? `api.${E2B_DOMAIN}` : new URL(E2B_API_URL).hostname;
    return (await key("E2B_API_KEY", host)) === null
      ? "E2B_API_KEY is not set: type `npx edgewise secret create E2B_API_KEY`, or set the variable of the service"
      : null;
  },
  open: (host) => new E2bSandbox(host),
};
