import { EdgewiseError } from "../../errors/result.ts";
import type { Sandbox } from "./sandbox.ts";

const refused = (): never => {
  throw new EdgewiseError("environment_failed", "this host gives environments no sandbox");
};

/** The sandboxes of a host that has none: loading an environment asks for none, its rollouts are told. */
export const noSandboxes = (): Sandbox => ({
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
});
