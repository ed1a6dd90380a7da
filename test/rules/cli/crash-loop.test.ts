import { expect, it } from "vitest";
import { CrashLoop } from "../../../src/cli/service/crash-loop.ts";

it("a runtime that ended by itself is told with the environments that were at work in it, as many as there were", () => {
  const crashes = new CrashLoop();
  expect([crashes.note([]), crashes.note(["mine"]), crashes.note(["mine", "yours"])]).toEqual([
    "warning: the local runtime ended unexpectedly and is started again; the run goes on",
    "warning: the local runtime ended unexpectedly while environment mine was at work and is started again (2 times within a minute); the run goes on",
    "warning: the local runtime ended unexpectedly while the environments mine, yours were at work and is started again (3 times within a minute); the run goes on",
  ]);
});
