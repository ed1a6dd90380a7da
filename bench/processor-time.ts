import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** User and system time of a process in seconds, in hundredths (proc(5), fields 14 and 15). Linux only: no other system tells without a tool that may be missing. */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The runtime that this process has started, which miniflare does not tell. */
export function runtimeOfThisProcess(): number {
  const pid = Number(execFileSync("pgrep", ["-n", "-x", "-P", String(process.pid), "workerd"], { encoding: "utf8" }));
  if (!Number.isInteger(pid) || pid <= 0) throw new Error("no runtime of this process is found");
  return pid;
}
