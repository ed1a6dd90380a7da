import { describe, expect, it } from "vitest";
import { CommandTimedOut, type Sandbox, type SandboxSpec } from "../../../src/environments/sandbox/sandbox.ts";
import { SandboxError } from "../../../src/errors/rollout-errors.ts";

export const SPEC: SandboxSpec = {
  name: "conformance",
  docker_image: "python:3.11-slim",
  start_command: "tail -f /dev/null",
  cpu_cores: 1,
  memory_gb: 1,
  disk_size_gb: 1,
  gpu_count: 0,
  timeout_minutes: 5,
  environment_vars: { GREETING: "hello" },
  labels: ["conformance"],
  team_id: null,
  advanced_configs: {},
};

/** What every provider of sandboxes keeps. `slow` is a command line that takes longer than a second. */
export function sandboxConformance(name: string, open: () => Sandbox, slow = "sleep 5"): void {
  describe(`the sandboxes of ${name}`, () => {
    const within = async <T>(work: (sandbox: Sandbox, id: string) => Promise<T>): Promise<T> => {
      const sandbox = open();
      const id = await sandbox.create(SPEC);
      try {
        await sandbox.ready(id);
        return await work(sandbox, id);
      } finally {
        await sandbox.delete([id]);
      }
    };
    const options = { timeoutSeconds: 10 };

    it("run commands in a shell, and tell output, errors and status apart", () =>
      within(async (sandbox, id) => {
        expect(await sandbox.execute(id, "echo out; echo err >&2; exit 4", options)).toEqual({ stdout: "out\n", stderr: "err\n", exit_code: 4 });
        expect(await sandbox.execute(id, "true", options)).toEqual({ stdout: "", stderr: "", exit_code: 0 });
      }));

    it("have the variables they were made with", () =>
      within(async (sandbox, id) => {
        expect((await sandbox.execute(id, 'echo "$GREETING"', options)).stdout).toBe("hello\n");
      }));

    it("are apart from each other", async () => {
      const sandbox = open();
      const [one, other] = [await sandbox.create(SPEC), await sandbox.create(SPEC)];
      try {
        expect(one).not.toBe(other);
        await Promise.all([sandbox.ready(one), sandbox.ready(other)]);
        await sandbox.writeFile(one, "note", new TextEncoder().encode("mine"));
        await expect(sandbox.readFile(other, "note")).rejects.toThrow(SandboxError);
      } finally {
        await sandbox.delete([one, other]);
      }
    });

    it("keep files byte for byte", () =>
      within(async (sandbox, id) => {
        const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
        await sandbox.writeFile(id, "bytes", bytes);
        expect(await sandbox.readFile(id, "bytes")).toEqual(bytes);
        await sandbox.writeFile(id, "bytes", new Uint8Array());
        expect(await sandbox.readFile(id, "bytes")).toEqual(new Uint8Array());
      }));

    it("end a command that takes too long, and go on", () =>
      within(async (sandbox, id) => {
        await expect(sandbox.execute(id, slow, { timeoutSeconds: 0.3 })).rejects.toThrow(CommandTimedOut);
        expect((await sandbox.execute(id, "echo on", options)).stdout).toBe("on\n");
      }));

    it("end a command that nobody waits for any more", () =>
      within(async (sandbox, id) => {
        await expect(sandbox.execute(id, slow, { ...options, signal: AbortSignal.abort(new Error("over")) })).rejects.toThrow("over");
      }));

    it("give a port a URL", () =>
      within(async (sandbox, id) => {
        expect(URL.canParse(await sandbox.expose(id, 8000))).toBe(true);
      }));

    it("are gone once they were ended, which may be said twice", async () => {
      const sandbox = open();
      const id = await sandbox.create(SPEC);
      await sandbox.ready(id);
      await sandbox.delete([id]);
      await sandbox.delete([id, "never-was"]);
      await expect(sandbox.execute(id, "true", options)).rejects.toThrow(SandboxError);
      await expect(sandbox.ready(id)).rejects.toThrow(SandboxError);
    });
  });
}
