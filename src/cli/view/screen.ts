/** Lines on a terminal: only those that changed are written, each at its own place, so that nothing wraps and nothing scrolls. */
import { BEGIN_FRAME, END_FRAME, ENTER_SCREEN, LEAVE_SCREEN } from "../terminal/own-screen.ts";
import type { Line, Style } from "../terminal/canvas.ts";

const COLOURS: Readonly<Record<Style, string>> = { plain: "", strong: "1", faint: "2", chosen: "7", good: "32", fair: "33", bad: "31", hit: "30;43" };
const WITHOUT_COLOUR: Readonly<Record<Style, string>> = { ...COLOURS, good: "", fair: "", bad: "1", hit: "7" };

export class Screen {
  private readonly write: (text: string) => unknown;
  private readonly codes: Readonly<Record<Style, string>>;
  private drawn: string[] = [];

  constructor(write: (text: string) => unknown, colours: boolean) {
    this.write = write;
    this.codes = colours ? COLOURS : WITHOUT_COLOUR;
  }

  enter(): void {
    this.drawn = [];
    this.write(ENTER_SCREEN);
  }

  leave(): void {
    this.write(LEAVE_SCREEN);
  }

  /** The size has changed, or something else has written: everything is drawn anew. */
  forget(): void {
    this.drawn = [];
  }

  draw(lines: readonly Line[]): void {
    const clean = this.drawn.length === 0 ? "\u001b[2J" : "";
    const texts = lines.map((line) => line.map(({ text, style, at }) => (at === undefined ? "" : `\u001b[${at}G`) + this.painted(text, style)).join(""));
    // Cleared before it is written: behind the last column there is no place to clear from.
    const changed = texts.flatMap((text, i) => (text === this.drawn[i] ? [] : [`\u001b[${i + 1};1H\u001b[K${text}`]));
    this.drawn = texts;
    if (changed.length > 0) this.write(BEGIN_FRAME + clean + changed.join("") + END_FRAME);
  }

  private painted(text: string, style: Style): string {
    const code = this.codes[style];
    return code === "" || text === "" ? text : `\u001b[${code}m${text}\u001b[0m`;
  }
}
