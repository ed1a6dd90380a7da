import { describe, expect, it, vi } from "vitest";
import { CommandTimedOut, type Sandbox } from "../../../src/environments/sandbox/sandbox.ts";
import { SandboxError } from "../../../src/errors/rollout-errors.ts";
import { MAX_JOB_OUTPUT_BYTES, MAX_SANDBOX_OUTPUT_BYTES } from "../../../src/limits.ts";
import { SPEC } from "./sandbox-spec.ts";

/** More than may be of an output, with a beginning and an end. */
export const LONG_OUTPUT = "echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end";
export const JOB = "echo begun; sleep 0.2; echo over >&2; exit 3";

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

    it("keep the beginning of an output that is longer than it may be", () =>
      within(async (sandbox, id) => {
        const { stdout, stdout_truncated, stderr_truncated } = await sandbox.execute(id, LONG_OUTPUT, options);
        expect([stdout.slice(0, 6), stdout.length, stdout_truncated, stderr_truncated]).toEqual(["begin\n", MAX_SANDBOX_OUTPUT_BYTES, true, undefined]);
      }));

    it("have jobs that go on behind the commands, and say how they stand and ended", () =>
      within(async (sandbox, id) => {
        const [short, long, loud] = [await sandbox.start(id, JOB), await sandbox.start(id, slow), await sandbox.start(id, LONG_OUTPUT)];
        const ended = (job: string) => vi.waitFor(async () => expect((await sandbox.job(id, job)).running).toBe(false), { timeout: 20_000, interval: 100 });
        await ended(short);
        expect(await sandbox.job(id, short)).toEqual({ running: false, exit_code: 3, stdout: "begun\n", stderr: "over\n" });
        await ended(loud);
        const { stdout, stdout_truncated } = await sandbox.job(id, loud);
        expect([stdout.slice(-5), stdout.length, stdout_truncated]).toEqual(["\nend\n", MAX_JOB_OUTPUT_BYTES, true]);
        expect(await sandbox.job(id, long)).toEqual({ running: true, exit_code: null, stdout: "", stderr: "" });
        await sandbox.stop(id, long);
        expect((await sandbox.job(id, long)).running).toBe(false);
        await sandbox.stop(id, long);
        await expect(sandbox.job(id, "00000000-0000-4000-8000-000000000000")).rejects.toThrow(SandboxError);
      }));

    it("are found by their labels until they are ended, where the provider knows labels", async () => {
      const sandbox = open();
      if (sandbox.list === undefined) return;
      const own = `conformance-${crypto.randomUUID()}`;
      const found = async (...labels: string[]): Promise<unknown> => (await sandbox.list?.(labels))?.map(({ id }) => id);
      const one = await sandbox.create({ ...SPEC, labels: [own, "one"] });
      const other = await sandbox.create({ ...SPEC, labels: [own] });
      try {
        expect([await found(own, "one"), await found("one", own, "two")]).toEqual([[one], []]);
        expect(new Set((await found(own)) as string[])).toEqual(new Set([one, other]));
      } finally {
        await sandbox.delete([one, other]);
      }
      expect(await found(own)).toEqual([]);
    });

    it("end a command that nobody waits for any more", () =>
      within(async (sandbox, id) => {
        await expect(sandbox.execute(id, slow, { ...options, signal: AbortSignal.abort(new Error("over")) })).rejects.toThrow("over");
      }));

    it("give a port a URL, or say that they make none reachable", () =>
      within(async (sandbox, id) => {
        const url = await sandbox.expose(id, 8000).catch((thrown: unknown) => thrown);
        expect(url instanceof SandboxError ? url.message.includes("no port reachable") : URL.canParse(String(url))).toBe(true);
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
