import { EdgewiseError } from "../../errors/result.ts";
import type { Sandbox } from "./sandbox.ts";

/** Sandboxes that cannot be made: whatever is tried is told `message`. */
export function refusingSandbox(message: string): Sandbox {
  const refused = async (): Promise<never> => {
    throw new EdgewiseError("environment_failed", message);
  };
  return {
    create: refused,
    ready: refused,
    execute: refused,
    start: refused,
    job: refused,
    stop: refused,
    writeFile: refused,
    readFile: refused,
    expose: refused,
    delete: async () => undefined,
  };
}

/** The sandboxes of a host that has none: loading an environment asks for none, its rollouts are told. */
export const noSandboxes = (): Sandbox => refusingSandbox("this host gives environments no sandbox");
