import { SandboxError } from "../../errors/rollout-errors.ts";
import type { SandboxDriver } from "../driver.ts";
import { LocalSandbox } from "./local-sandbox.ts";
import type { Wall } from "./messages.ts";

/** Sandboxes of the machine that the local service runs on, behind this wall; null = the first that it has. */
function ofThisMachine(wall: Wall | null): SandboxDriver {
  return {
    async problem({ env: { PARENT } }) {
      if (PARENT === undefined) return "they are there under the local service only";
      try {
        const walls = (await new LocalSandbox(PARENT).describe()).filter((each) => wall === null || each.wall === wall);
        if (walls.some(({ problem }) => problem === null)) return null;
        return walls.map(({ problem, hint }) => `${problem}${hint === null ? "" : ` (${hint})`}`).join("; ");
      } catch (thrown) {
        if (!(thrown instanceof SandboxError)) throw thrown;
        return thrown.message;
      }
    },
    open: ({ env: { PARENT } }) => new LocalSandbox(PARENT, { wall }),
  };
}

export const LOCAL = ofThisMachine(null);
export const DOCKER = ofThisMachine("docker");
