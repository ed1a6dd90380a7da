import { readFileSync } from "node:fs";

/** Who has a sandbox: `{process number}-{its start}`, so that a number that another process got since is told apart. */
export const ownerName = (): string => `${process.pid}-${startOf(process.pid) ?? 0}`;

/** Whether the owner of that name lives. A name of another form is nobody's. */
export function ownerLives(name: string): boolean {
  const [, pid, start] = /^(\d+)-(\d+)$/.exec(name) ?? [];
  if (pid === undefined || start === undefined) return false;
  if (start === "0") return lives(Number(pid));
  return startOf(Number(pid)) === start;
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Ticks since the machine's start; null where there is no such process, it has ended and nobody has looked at how, or nothing says (not Linux). */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // A name may have spaces and brackets: what follows its end is fixed. The state, and the 22nd field, the 20th behind the name.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
