/** Puts frames on a terminal, each line at its place: nothing depends on what stood there before, so nothing can be torn by it. */
import { Writable } from "node:stream";
import { BEGIN_FRAME, END_FRAME, ENTER_SCREEN, LEAVE_SCREEN } from "../terminal/own-screen.ts";
import type { Size } from "../terminal/canvas.ts";

/** The part of a terminal stream this needs. */
export interface Screen {
  write(text: string): unknown;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** So often everything is painted anew, should something else have written to the terminal. */
const WHOLE_MS = 1000;

/** What Ink takes for its output: it writes whole frames, lines separated by line feeds. */
export class Painter extends Writable {
  readonly isTTY = true;
  readonly #screen: Screen;
  readonly #now: () => number;
  #painted: readonly string[] = [];
  #wholeAt = Number.NEGATIVE_INFINITY;
  #entered = false;

  /** `now`: milliseconds that only go forward. */
  constructor(screen: Screen, now: () => number) {
    super({ decodeStrings: false });
    this.#screen = screen;
    this.#now = now;
  }

  get size(): Size {
    return { columns: this.#screen.columns || 80, rows: this.#screen.rows || 24 };
  }

  /** Asked by Ink. */
  get columns(): number {
    return this.size.columns;
  }
  get rows(): number {
    return this.size.rows;
  }

  enter(): void {
    this.#entered = true;
    this.forget();
    this.#screen.write(ENTER_SCREEN);
  }

  leave(): void {
    if (!this.#entered) return;
    this.#entered = false;
    this.#screen.write(LEAVE_SCREEN);
  }

  /** The screen is not what was painted: the next frame is painted as a whole. */
  forget(): void {
    this.#wholeAt = Number.NEGATIVE_INFINITY;
  }

  override _write(frame: unknown, _encoding: BufferEncoding, done: () => void): void {
    // Ink also writes control sequences of its own, for the cursor; the frame alone is wanted.
    if (typeof frame === "string" && this.#entered && frame.includes("\n")) this.#paint(frame.split("\n"));
    done();
  }

  #paint(lines: readonly string[]): void {
    const now = this.#now();
    const whole = now - this.#wholeAt >= WHOLE_MS;
    if (whole) this.#wholeAt = now;
    const changed = lines
      .slice(0, this.size.rows)
      .flatMap((line, i) => (whole || line !== this.#painted[i] ? [`\u001b[${i + 1};1H\u001b[0m${line}\u001b[0m\u001b[K`] : []));
    this.#painted = lines;
    if (changed.length > 0) this.#screen.write(`${BEGIN_FRAME}${changed.join("")}${whole ? "\u001b[J" : ""}\u001b[H${END_FRAME}`);
  }
}
