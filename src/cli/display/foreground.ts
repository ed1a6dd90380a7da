/** Whether the terminal is this command's to read keys from: a job in the background that tries is stopped by its shell. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const STAT = "/proc/self/stat";

/** True also where the system does not say. */
export function ownTerminal(): boolean {
  try {
    const [own, foreground] = existsSync(STAT) ? fromProc(readFileSync(STAT, "utf8")) : fromPs();
    return own === foreground || foreground === undefined;
  } catch {
    return true;
  }
}

/** The name in brackets may hold anything; after it come state, parent, group, session, terminal, the terminal's foreground group. */
export function fromProc(stat: string): readonly (string | undefined)[] {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return [fields[2], fields[5]];
}

function fromPs(): readonly (string | undefined)[] {
  const text = execFileSync("ps", ["-o", "pgid=,tpgid=", "-p", String(process.pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return text.trim().split(/\s+/);
}
