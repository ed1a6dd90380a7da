import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Processes of this machine, of sandboxes too, whose command line has a text; its words are apart by `\0`. */
export const runningHere = (text: string): readonly string[] =>
  readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(join("/proc", name, "cmdline"), "latin1").includes(text);
    } catch {
      return false;
    }
  });

/** A number of seconds that no other process sleeps. */
export const uniqueSeconds = (): string => `9${String(Math.random()).slice(2, 9)}`;
