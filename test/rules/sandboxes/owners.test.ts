import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { ownerLives, ownerName } from "../../../src/cli/sandboxes/owner.ts";

/** State and start of a process, as the kernel says them. */
const statOf = (pid: number): readonly [string | undefined, string | undefined] => {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /s, "")
    .split(" ");
  return [fields[0], fields[19]];
};

describe.runIf(process.platform === "linux")("the owner of a sandbox", () => {
  it("lives while its process does, and no longer once that has ended and nobody has looked at how", async () => {
    expect(ownerLives(ownerName())).toBe(true);
    // What takes the shell's place never asks after the child that it began.
    const parent = spawn("sh", ["-c", "sleep 0.3 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const pid = await new Promise<number>((resolve) => parent.stdout.once("data", (bytes: Buffer) => resolve(Number(bytes.toString()))));
      await vi.waitFor(() => expect(statOf(pid)[0]).toBe("Z"), { timeout: 10_000, interval: 20 });
      expect(ownerLives(`${pid}-${statOf(pid)[1]}`)).toBe(false);
    } finally {
      parent.kill("SIGKILL");
    }
  });
});
