/** The display on a terminal while the runs of a command go on: drawn at most ten times a second, gone when they have ended. */
import { singleLine } from "../../report/text/printable.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { progressText, toldLine } from "./progress.ts";
import type { RunProgress, RunsDisplay } from "./runs-display.ts";
import type { Size } from "../terminal/canvas.ts";
import { ownTerminal } from "./foreground.ts";
import { type InkScreen, inkScreen } from "./ink-screen.ts";
import { choiceAfter, type Choice, FIRST_CHOICE, type LayoutOptions, screenLines } from "./layout.ts";
import { NumbersPoll } from "./numbers-poll.ts";
import { Painter } from "./painter.ts";
import { SteeringKeys } from "./steering-keys.ts";
import { RunView } from "./run-view.ts";

export interface LiveDisplayOptions {
  readonly screen: NodeJS.WriteStream;
  /** Null where nobody can press a key. */
  readonly keyboard: NodeJS.ReadStream | null;
  /** Stay when everything has ended, until a key is pressed. */
  readonly fullscreen: boolean;
  /** Of the service as it is now; null before there is one. */
  readonly client: () => ServiceClient | null;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Writes a line where nothing is drawn. */
  readonly tell: (line: string) => void;
}

const FRAME_MS = 100;
/** Times go on even if nothing else does. */
const CLOCK_MS = 1000;
/** Lines that are repeated when the display has gone; the log has them all. */
const KEPT = 100;

/** `labels`: of the evaluations, in order. */
export class LiveDisplay implements RunsDisplay {
  readonly #options: LiveDisplayOptions;
  readonly #views: readonly RunView[];
  readonly #painter: Painter;
  readonly #poll: NumbersPoll;
  readonly #steering: SteeringKeys;
  #ink: InkScreen | null = null;
  #timer: NodeJS.Timeout | null = null;
  #choice: Choice = FIRST_CHOICE;
  #changed = true;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #kept: string[] = [];
  #forgotten = 0;
  #over = false;
  #onLeave: (() => void) | null = null;

  constructor(labels: readonly string[], options: LiveDisplayOptions) {
    this.#options = options;
    this.#views = labels.map((label) => new RunView(label));
    this.#painter = new Painter(options.screen, options.now);
    this.#poll = new NumbersPoll(options.client);
    this.#steering = new SteeringKeys(options.client, (view, line) => {
      view.say({ level: "INFO", message: line }, options.clock());
      this.#changed = true;
    });
  }

  start(): void {
    if (this.#timer !== null) return;
    this.#open();
    this.#options.screen.on("resize", this.#resized);
    // A second Ctrl-C ends the process at once, and the terminal has to be usable after it.
    process.on("exit", this.#gone);
    this.#timer = setInterval(() => this.#tick(), FRAME_MS);
    this.#timer.unref();
  }

  run(index: number): RunProgress {
    const view = this.#views[index];
    if (view === undefined) throw new RangeError(`there is no evaluation ${index}`);
    const { now, clock } = this.#options;
    const note = (line: string): void => {
      view.say({ level: "INFO", message: line }, clock());
      this.#keep(this.#named(view, line));
    };
    const changing = <Args extends readonly unknown[]>(change: (...args: Args) => void) => {
      return (...args: Args): void => {
        change(...args);
        this.#changed = true;
      };
    };
    return {
      started: changing((evaluation, folder) => view.start(evaluation, folder, now())),
      update: changing((state) => view.update(state, now())),
      log: changing((event) => {
        view.say(event, clock());
        const line = toldLine(event);
        if (line !== null) this.#keep(this.#named(view, line));
      }),
      note: changing(note),
      ended: changing((how) => view.end(how, now())),
    };
  }

  note(line: string): void {
    for (const view of this.#views) view.say({ level: "INFO", message: line }, this.#options.clock());
    this.#keep(line);
    this.#changed = true;
  }

  async seen(signal: AbortSignal): Promise<void> {
    const { fullscreen, keyboard } = this.#options;
    if (!fullscreen || keyboard === null || this.#ink === null || signal.aborted) return;
    this.#over = true;
    this.#changed = true;
    await new Promise<void>((resolve) => {
      this.#onLeave = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#onLeave = null;
  }

  /** Gives the terminal back, with what was said on it as plain lines. */
  end(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#poll.stop();
    this.#options.screen.off("resize", this.#resized);
    process.off("exit", this.#gone);
    process.off("SIGCONT", this.#continued);
    this.#close();
    const { tell, clock } = this.#options;
    if (this.#forgotten > 0) tell(`… ${this.#forgotten} earlier lines are in the log`);
    for (const line of this.#kept) tell(line);
    for (const view of this.#views) if (view.state !== null) tell(this.#named(view, progressText(view.state, null, clock())));
  }

  #named(view: RunView, line: string): string {
    return this.#views.length === 1 ? line : `${singleLine(view.label)}: ${line}`;
  }

  #keep(line: string): void {
    this.#kept.push(line);
    if (this.#kept.length <= KEPT) return;
    this.#kept.shift();
    this.#forgotten += 1;
  }

  #open(): void {
    this.#painter.enter();
    this.#ink = inkScreen(this.#painter, this.#options.keyboard, (key) => this.#press(key));
    this.#draw();
  }

  #close(): void {
    this.#ink?.close();
    this.#ink = null;
    this.#painter.leave();
  }

  readonly #gone = (): void => this.#close();

  readonly #resized = (): void => {
    this.#painter.forget();
    this.#draw();
  };

  #tick(): void {
    const now = this.#options.now();
    if (now - this.#askedAt >= CLOCK_MS) {
      this.#askedAt = now;
      this.#poll.tick(this.#views, this.#choice.selected, now);
    }
    if (this.#changed || now - this.#drawnAt >= CLOCK_MS) this.#draw();
  }

  #draw(): void {
    this.#changed = false;
    this.#drawnAt = this.#options.now();
    this.#ink?.show(screenLines(this.#views, this.#choice, this.#layout(this.#painter.size)));
  }

  #layout(size: Size): LayoutOptions {
    const { now, clock, keyboard } = this.#options;
    return { size, now: now(), clock: clock(), keys: keyboard !== null, over: this.#over };
  }

  #press(key: string): void {
    if (key === "ctrl-c") {
      // What a terminal does where nobody reads its keys one by one: everything that belongs to the command hears it.
      process.kill(0, "SIGINT");
    } else if (key === "ctrl-z") {
      this.#suspend();
    } else if (this.#over && (key === "q" || key === "enter")) {
      this.#onLeave?.();
    } else if (!this.#steering.press(key, this.#views[this.#choice.selected])) {
      this.#choice = choiceAfter(this.#choice, key, this.#views, this.#layout(this.#painter.size));
      this.#changed = true;
    }
  }

  #suspend(): void {
    this.#close();
    process.on("SIGCONT", this.#continued);
    process.kill(0, "SIGTSTP");
  }

  /** Back in the foreground the display comes back too; in the background the terminal is somebody else's. */
  readonly #continued = (): void => {
    if (this.#ink !== null || !ownTerminal()) return;
    process.off("SIGCONT", this.#continued);
    this.#open();
  };
}
