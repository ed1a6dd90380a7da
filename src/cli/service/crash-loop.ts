import { CliError } from "../terminal/cli-error.ts";

const WINDOW_MS = 60_000;
/** A unit that kills the runtime does so three times before it is given up; more than this is no unit's doing. */
const MOST = 10;

/** Counts unexpected ends of the runtime; its signal fires when they come so fast that starting again makes no sense. */
export class CrashLoop {
  private readonly controller = new AbortController();
  private crashes: number[] = [];

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Notes one more and says how that is told. */
  note(): string {
    const now = performance.now();
    this.crashes = [...this.crashes.filter((at) => now - at < WINDOW_MS), now];
    const { length } = this.crashes;
    if (length >= MOST) {
      this.controller.abort(
        new CliError(`the local runtime ended unexpectedly ${length} times within a minute`, {
          hints: ["Its last words are in service.log of the state folder."],
        }),
      );
    }
    return `warning: the local runtime ended unexpectedly and is started again${length > 1 ? ` (${length} times within a minute)` : ""}; the run goes on`;
  }
}
