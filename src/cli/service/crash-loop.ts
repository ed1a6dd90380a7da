import { CliError } from "../terminal/cli-error.ts";
import { holderOf } from "./runtime/at-work.ts";

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

  /** Notes one that ended by itself, as one does whose memory the code of an environment has used up, and says how that is told. `environments`: at work then. */
  note(environments: readonly string[]): string {
    const times = this.count();
    const [one] = environments;
    const whose =
      one === undefined ? "" : ` while ${environments.length === 1 ? `environment ${one} was` : `the environments ${environments.join(", ")} were`} at work`;
    return `warning: the local runtime ended unexpectedly${whose} and is started again${times > 1 ? ` (${times} times within a minute)` : ""}; the run goes on`;
  }

  /** Notes one that answered nobody any more and was ended. */
  hung(environments: readonly string[]): string {
    this.count();
    return `warning: the local runtime was held by ${holderOf(environments)}, which does not end or pause: it is ended and started again; the run goes on, and a unit that does so again is given up`;
  }

  private count(): number {
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
    return length;
  }
}
