import { MAX_JOB_OUTPUT_BYTES, MAX_SANDBOX_OUTPUT_BYTES } from "../../limits.ts";
import type { CommandResult, JobStatus } from "./sandbox.ts";

/** The same with no more of its output than a command may have: what a driver answers whose provider bounds nothing. */
export function boundedResult({ stdout, stderr, exit_code, stdout_truncated, stderr_truncated }: CommandResult): CommandResult {
  const [out, err] = [firstBytes(stdout, MAX_SANDBOX_OUTPUT_BYTES), firstBytes(stderr, MAX_SANDBOX_OUTPUT_BYTES)];
  return {
    stdout: out,
    stderr: err,
    exit_code,
    ...(stdout_truncated || out.length < stdout.length ? { stdout_truncated: true } : {}),
    ...(stderr_truncated || err.length < stderr.length ? { stderr_truncated: true } : {}),
  };
}

/** The same for a background job, of whose output the end is kept. */
export function boundedJob({ running, exit_code, stdout, stderr, stdout_truncated, stderr_truncated }: JobStatus): JobStatus {
  const [out, err] = [lastBytes(stdout, MAX_JOB_OUTPUT_BYTES), lastBytes(stderr, MAX_JOB_OUTPUT_BYTES)];
  return {
    running,
    exit_code,
    stdout: out,
    stderr: err,
    ...(stdout_truncated || out.length < stdout.length ? { stdout_truncated: true } : {}),
    ...(stderr_truncated || err.length < stderr.length ? { stderr_truncated: true } : {}),
  };
}

const CONTINUATION = 0x80;
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === CONTINUATION;

/** As many whole characters from the beginning as `limit` bytes hold. */
function firstBytes(text: string, limit: number): string {
  // A character takes at least one byte and at most three for each code unit.
  if (text.length * 3 <= limit) return text;
  const bytes = new TextEncoder().encode(text.slice(0, limit + 1));
  if (bytes.length <= limit && text.length <= limit) return text;
  let end = Math.min(limit, bytes.length);
  while (end > 0 && isContinuation(bytes[end])) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

/** The same from the end. */
function lastBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const bytes = new TextEncoder().encode(text.slice(-limit - 1));
  if (bytes.length <= limit && text.length <= limit) return text;
  let start = Math.max(0, bytes.length - limit);
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return new TextDecoder().decode(bytes.subarray(start));
}
