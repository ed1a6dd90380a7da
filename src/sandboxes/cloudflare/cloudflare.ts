import type { SandboxDriver } from "../driver.ts";
import { CloudflareSandbox, UNBOUND } from "./cloudflare-sandbox.ts";

/** Containers of Cloudflare beside the deployed Worker. */
export const CLOUDFLARE: SandboxDriver = {
  problem: async ({ env: { SANDBOXES } }) => (SANDBOXES === undefined ? UNBOUND : null),
  open: ({ env: { SANDBOXES } }) => new CloudflareSandbox(SANDBOXES),
};
