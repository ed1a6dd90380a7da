/** One run: its rollouts in a list, and beside it settings, numbers, errors and the spread of its rewards. */
import { EMPTY, type Line, lineOf, type Size, type Span, sideBySide, span, textOf, windowOf } from "../../terminal/canvas.ts";
import type { FoundRun } from "../find-runs.ts";
import type { Key } from "../../terminal/keys.ts";
import type { Action, Page, ViewContext } from "../page.ts";
import { type ReadRow, ResultsFile } from "../results-file.ts";
import { headOf, previewOf } from "../row-facts.ts";
import { rewardStyle, rewardText, runLines } from "../run-lines.ts";
import { clamp, movement, topFor } from "../../terminal/scroll.ts";
import { RowSpread } from "../spread.ts";
import { LogPage } from "./log-page.ts";
import { RolloutPage, searchPage } from "./rollout-page.ts";

/** Bytes of rows that are counted unasked; `a` counts the rest too. */
const COUNTED_BYTES = 64 * 1024 * 1024;
/** Rows between two redraws while counting. */
const PAUSE_ROWS = 500;
/** Lines of the list that are kept. */
const HEADS = 1000;
/** Copied lines are not wrapped for the screen. */
const COPY_COLUMNS = 120;

export class RunPage implements Page {
  readonly help = "↑↓ move · Enter open · Tab pane · s search · l logs · c copy · b back · q";
  private readonly context: ViewContext;
  private readonly run: FoundRun;
  /** Null while it is being opened; a text when there is none. */
  private file: ResultsFile | string | null = null;
  private readonly heads = new Map<number, Line>();
  private readonly asked = new Set<number>();
  private readonly spread = new RowSpread();
  private counting: "on" | "paused" | "done" = "on";
  private limit = COUNTED_BYTES;
  /** Ends a pause in the counting. */
  private goOn: () => void = () => undefined;
  private at = 0;
  private top = 0;
  private toEnd = false;
  private details = { focus: false, top: 0 };
  private rows = 1;
  private closed = false;
  private readonly ready: Promise<void>;

  constructor(context: ViewContext, run: FoundRun) {
    this.context = context;
    this.run = run;
    // A run that goes on has written more since it was listed.
    context.infos.refresh(run);
    this.ready = this.openFile();
    context.work(this.ready);
  }

  draw({ columns, rows }: Size): readonly Line[] {
    this.rows = rows - 1;
    const left = clamp(Math.floor(columns * 0.44), 20, 90);
    const right = columns - left - 3;
    const details = this.detailLines(right);
    this.details.top = clamp(this.details.top, 0, Math.max(0, details.length - this.rows));
    return [
      [span(`${this.run.envId} · ${this.run.model}`, "strong"), span(`  ${this.run.id}`, "faint")],
      ...sideBySide(this.listLines(), left, windowOf(details, this.details.top, this.rows), right, this.rows),
    ];
  }

  async key(key: Key): Promise<Action> {
    // Somebody may be faster than the disk.
    await this.ready;
    const { file } = this;
    const step = movement(key, this.rows);
    if (step !== null && this.details.focus) this.details.top = clamp(this.details.top + step, 0, Number.MAX_SAFE_INTEGER);
    else if (step !== null) this.move(step);
    else if (key === "q") return "quit";
    else if (key === "b" || key === "escape" || key === "left") return "back";
    else if (key === "tab" || key === "shift-tab") this.details.focus = !this.details.focus;
    else if (key === "l") return { open: new LogPage(this.context, this.run) };
    else if (key === "a" && this.counting === "paused") {
      this.limit = Number.POSITIVE_INFINITY;
      this.counting = "on";
      this.goOn();
      this.context.changed();
    } else if (file instanceof ResultsFile && (key === "enter" || key === "right") && file.count > 0) return { open: this.rollout(file, this.at) };
    else if (file instanceof ResultsFile && (key === "s" || key === "/")) return { open: searchPage(this.context, this.run, file) };
    return "stay";
  }

  copy(): string {
    return this.detailLines(COPY_COLUMNS).map(textOf).join("\n");
  }

  async close(): Promise<void> {
    this.closed = true;
    this.goOn();
    await this.ready;
    if (this.file instanceof ResultsFile) await this.file.close();
  }

  private detailLines(width: number): readonly Line[] {
    const counted = typeof this.file === "string" ? null : { spread: this.spread, note: this.countingNote() };
    return runLines(this.run, this.context.infos.get(this.run), counted, width);
  }

  private rollout(file: ResultsFile, index: number): RolloutPage {
    const seen = (now: number): void => {
      this.at = now;
    };
    return new RolloutPage(this.context, { run: this.run, file, index, seen });
  }

  private async openFile(): Promise<void> {
    this.file = await ResultsFile.open(this.run.path);
    if (!(this.file instanceof ResultsFile)) this.counting = "done";
    else {
      await this.file.scanTo(0);
      this.context.work(this.count(this.file));
    }
    this.context.changed();
  }

  /** Counts all rows in the background, a piece at a time; stops when the page is left, waits at the limit for somebody to ask for more. */
  private async count(file: ResultsFile): Promise<void> {
    let rows = 0;
    for await (const read of file.rows()) {
      if (this.closed) return;
      if ("row" in read) this.spread.add(read.row);
      else this.spread.broken += 1;
      rows += 1;
      if (rows % PAUSE_ROWS === 0) {
        this.context.changed();
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (file.seen < this.limit || (file.known && rows === file.count)) continue;
      this.counting = "paused";
      this.context.changed();
      await new Promise<void>((resolve) => {
        this.goOn = resolve;
      });
    }
    this.counting = "done";
    this.context.changed();
  }

  private countingNote(): string | null {
    if (this.counting === "done" || !(this.file instanceof ResultsFile)) return null;
    const share = this.file.size === 0 ? 100 : Math.floor((this.file.seen / this.file.size) * 100);
    return this.counting === "on" ? `counting: ${share} % of the file` : `of the first ${share} % of the file; a counts all of it`;
  }

  private move(step: number): void {
    const { file } = this;
    if (!(file instanceof ResultsFile)) return;
    if (step === Number.POSITIVE_INFINITY && !file.known) {
      this.toEnd = true;
      this.context.work(file.scanTo(Number.POSITIVE_INFINITY).then(() => this.context.changed()));
    } else this.toEnd = false;
    this.at = clamp(this.at + step, 0, Math.max(0, file.count - 1));
    // What lies a page ahead is found before somebody gets there.
    if (!file.known && this.at + this.rows * 2 >= file.count) this.context.work(file.scanTo(this.at + this.rows * 2).then(() => this.context.changed()));
  }

  private listLines(): readonly Line[] {
    const { file } = this;
    if (file === null) return [lineOf("opening …", "faint")];
    if (typeof file === "string") return [lineOf(file, "bad")];
    if (file.count === 0) return [lineOf(file.known ? "no rollout has finished" : "reading …", "faint")];
    if (this.toEnd) this.at = file.count - 1;
    if (file.known) this.toEnd = false;
    this.at = clamp(this.at, 0, file.count - 1);
    this.top = topFor(this.at, this.top, this.rows, file.count);
    return Array.from({ length: Math.min(this.rows, file.count - this.top) }, (_, i) => this.rowLine(file, this.top + i));
  }

  private rowLine(file: ResultsFile, index: number): Line {
    const head = this.heads.get(index);
    if (head === undefined) this.ask(file, index);
    const line = head ?? lineOf(`#${index + 1}`, "faint");
    if (index !== this.at) return line;
    return this.details.focus ? line.map(({ text }) => ({ text, style: "strong" as const })) : line.map(({ text }) => ({ text, style: "chosen" as const }));
  }

  private ask(file: ResultsFile, index: number): void {
    if (this.asked.has(index)) return;
    this.asked.add(index);
    const read = async (): Promise<void> => {
      const row = await file.row(index);
      this.asked.delete(index);
      if (this.heads.size >= HEADS) this.heads.clear();
      this.heads.set(index, headLine(index, row));
      this.context.changed();
    };
    this.context.work(read());
  }
}

function headLine(index: number, read: ReadRow | null): Line {
  if (read === null) return EMPTY;
  const number = span(`#${index + 1} `.padEnd(6), "faint");
  if ("problem" in read) return [number, span(read.problem, "bad")];
  const { example, rollout, reward, error } = headOf(read.row);
  const place = rollout === "" ? example : `${example}/${rollout}`;
  return [
    number,
    span(`${place} `.padEnd(7)),
    span(rewardText(reward).padStart(6), rewardStyle(reward)),
    span("  "),
    error === null ? answer(previewOf(read.row)) : span(error, "bad"),
  ];
}

const answer = (text: string): Span => (text === "" ? span("(no answer)", "faint") : span(text));
