/** The live display where a terminal can show it, plain lines everywhere else. */
import type { ServiceClient } from "../connection/http-client.ts";
import { canDraw } from "./can-draw.ts";
import { ownTerminal } from "./foreground.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { plainDisplay, type RunsDisplay } from "./runs-display.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface DisplayWish {
  /** Of the evaluations, in order. */
  readonly labels: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly disabled: boolean;
  readonly fullscreen: boolean;
  /** Of the service as it is now; null before there is one. */
  readonly client: () => ServiceClient | null;
}

/** Refuses a display that is to be kept and not to be there. */
export function checkDisplayFlags(options: readonly GivenOptions[]): void {
  const has = (name: "disable_tui" | "fullscreen"): boolean => options.some((given) => given[name] === true);
  if (has("disable_tui") && has("fullscreen")) throw usageError("-f/--fullscreen keeps the live display, and -d/--disable-tui leaves it out: give one of them");
}

export async function chooseDisplay({ labels, env, terminal, disabled, fullscreen, client }: DisplayWish): Promise<RunsDisplay> {
  const screen = terminal.errors;
  const times = { now: () => performance.now(), clock: Date.now, tell: (line: string) => terminal.tell(line) };
  if (!canDraw({ env, isTTY: screen.isTTY === true, disabled, ownTerminal })) return plainDisplay(labels, times);
  // A megabyte that nobody else needs.
  const { LiveDisplay } = await import("./live-display.ts");
  const keyboard = process.stdin.isTTY ? process.stdin : null;
  return new LiveDisplay(labels, { screen, keyboard, fullscreen, client, ...times });
}
