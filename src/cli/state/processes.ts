/**
 * Other processes of this machine, told apart from later ones that were given the same number. Linux reads `/proc`, other
 * systems ask `ps`; where neither exists only the number is known.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const PROC = existsSync("/proc/self/stat");

/** A process by number and by the moment it started, in the words of the system it runs on; "" = the system does not say. */
export interface ProcessMark {
  readonly pid: number;
  readonly started: string;
}

/** When the process of that number started; null when there is none, or when it has ended and only waits to be collected. */
export function startOf(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return PROC ? startFromProc(pid) : startFromPs(pid);
}

export const markOf = (pid: number): ProcessMark => ({ pid, started: startOf(pid) ?? "" });

/** Whether this very process still runs; a recycled number does not count. */
export function isAlive(mark: ProcessMark): boolean {
  const started = startOf(mark.pid);
  return started !== null && (mark.started === "" || started === "" || started === mark.started);
}

/** The command line of a process, arguments joined by spaces; null when it cannot be read. */
export function commandLineOf(pid: number): string | null {
  if (!PROC) return ps(pid, "command=");
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  } catch {
    return null;
  }
}

/**
 * Kills a process (it gets no chance to object) and waits until it is gone. Refuses when the command line does not match, so
 * that a recycled number never costs somebody else's process its life. Answers `gone` also when there was nothing to kill.
 */
export async function endProcess(mark: ProcessMark, expected: RegExp, timeoutMs: number): Promise<"gone" | "other" | "survived"> {
  if (!isAlive(mark)) return "gone";
  const command = commandLineOf(mark.pid);
  if (command === null) return isAlive(mark) ? "survived" : "gone";
  if (!expected.test(command)) return "other";
  try {
    process.kill(mark.pid, "SIGKILL");
  } catch {
    // Already gone, or not ours to kill: the wait below tells which.
  }
  const deadline = performance.now() + timeoutMs;
  while (isAlive(mark)) {
    if (performance.now() > deadline) return "survived";
    await sleep(10);
  }
  return "gone";
}

function startFromProc(pid: number): string | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  // The name in parentheses may hold anything, also parentheses; what follows the last one is fixed (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  if (state === "Z" || state === "X") return null;
  return `${machineStart()}-${fields[19] ?? ""}`;
}

let knownMachineStart: string | undefined;

/** Start times count from the start of the machine, so they repeat after a restart; this makes them unique. */
function machineStart(): string {
  if (knownMachineStart === undefined) {
    try {
      knownMachineStart = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim().slice(0, 8);
    } catch {
      knownMachineStart = "";
    }
  }
  return knownMachineStart;
}

function startFromPs(pid: number): string | null {
  const line = ps(pid, "stat=,lstart=");
  if (line === null) return isNumberInUse(pid) ? "" : null;
  return line.startsWith("Z") ? null : line.replace(/^\S+\s+/, "");
}

function ps(pid: number, columns: string): string | null {
  try {
    const line = execFileSync("ps", ["-o", columns, "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], timeout: 2000 }).trim();
    return line === "" ? null : line;
  } catch {
    return null;
  }
}

function isNumberInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM";
  }
}
