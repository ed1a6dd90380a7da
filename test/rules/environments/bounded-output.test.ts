import { describe, expect, it } from "vitest";
import { boundedJob, boundedResult } from "../../../src/environments/sandbox/bounded-output.ts";
import { MAX_JOB_OUTPUT_BYTES, MAX_SANDBOX_OUTPUT_BYTES } from "../../../src/limits.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

describe("the output of a sandbox", () => {
  it("stays as it is up to its bound, and says so beyond it", () => {
    const at = { stdout: "x".repeat(MAX_SANDBOX_OUTPUT_BYTES), stderr: "", exit_code: 1 };
    expect(boundedResult(at)).toEqual(at);
    expect(boundedResult({ ...at, stderr: `${at.stdout}y` })).toEqual({ ...at, stderr: at.stdout, stderr_truncated: true });
    const job = { running: true, exit_code: null, stdout: "x".repeat(MAX_JOB_OUTPUT_BYTES), stderr: "" };
    expect(boundedJob(job)).toEqual(job);
    expect(boundedJob({ ...job, stderr: `y${job.stdout}` })).toEqual({ ...job, stderr: job.stdout, stderr_truncated: true });
  });

  it("is cut between characters, a command's at its end and a job's at its beginning", () => {
    const text = "€".repeat(MAX_SANDBOX_OUTPUT_BYTES / 2);
    const { stdout, stdout_truncated } = boundedResult({ stdout: text, stderr: "", exit_code: 0 });
    expect([/^€+$/.test(stdout), bytes(stdout), stdout_truncated]).toEqual([true, MAX_SANDBOX_OUTPUT_BYTES - (MAX_SANDBOX_OUTPUT_BYTES % 3), true]);
    const job = boundedJob({ running: false, exit_code: 0, stdout: `${text}.`, stderr: "" });
    expect([/^€+\.$/.test(job.stdout), MAX_JOB_OUTPUT_BYTES - bytes(job.stdout) < 3, job.stdout_truncated]).toEqual([true, true, true]);
  });

  it("stays marked where its provider cut it", () => {
    expect(boundedResult({ stdout: "x", stderr: "", exit_code: 0, stdout_truncated: true })).toMatchObject({ stdout: "x", stdout_truncated: true });
  });
});
