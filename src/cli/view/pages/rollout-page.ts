/** One rollout: prompt and completion message by message, what it was scored, what is known about it. */
import { type Line, lineOf, type Size, span, windowOf } from "../../terminal/canvas.ts";
import type { FoundRun } from "../find-runs.ts";
import type { Key } from "../../terminal/keys.ts";
import { type Layout, layoutOf } from "../layout.ts";
import type { Action, Page, ViewContext } from "../page.ts";
import type { ReadRow, ResultsFile } from "../results-file.ts";
import { headOf, type Section, sectionsOf } from "../row-facts.ts";
import { rewardStyle, rewardText } from "../run-lines.ts";
import { clamp, movement } from "../../terminal/scroll.ts";
import { LogPage } from "./log-page.ts";
import { SearchPage } from "./search-page.ts";

export interface RolloutOf {
  readonly run: FoundRun;
  /** Belongs to the page of the run. */
  readonly file: ResultsFile;
  /** Place in the file, from 0. */
  readonly index: number;
  /** Told which rollout is shown. */
  readonly seen?: (index: number) => void;
  /** What led here. */
  readonly hit?: { readonly section: number; readonly line: number; readonly pattern: RegExp };
}

interface Shown {
  readonly read: ReadRow;
  readonly sections: readonly Section[];
}

export class RolloutPage implements Page {
  readonly help = "↑↓ · n p rollout · Tab section · Enter fold · e x all · s search · l logs · b q";
  private readonly context: ViewContext;
  private readonly of: RolloutOf;
  private index: number;
  private shown: Shown | null = null;
  private readonly folded = new Set<number>();
  private section = 0;
  private top = 0;
  private jump: NonNullable<RolloutOf["hit"]> | null;
  private layout: { readonly width: number; readonly of: Shown; readonly value: Layout } | null = null;
  private rows = 1;
  /** Only the newest request is shown. */
  private request = 0;

  constructor(context: ViewContext, of: RolloutOf) {
    this.context = context;
    this.of = of;
    this.index = of.index;
    this.jump = of.hit ?? null;
    this.show(of.index);
  }

  draw({ columns, rows }: Size): readonly Line[] {
    this.rows = rows - 1;
    const { shown } = this;
    if (shown === null) return [this.headLine(null), lineOf("reading …", "faint")];
    const layout = this.layoutFor(shown, columns);
    if (this.jump !== null) {
      this.section = this.jump.section;
      this.top = layout.lineOf(this.jump.section, this.jump.line) - Math.floor(this.rows / 3);
      this.jump = null;
    }
    this.top = clamp(this.top, 0, Math.max(0, layout.lines.length - this.rows));
    const lines = windowOf(layout.lines, this.top, this.rows).map((line, i) =>
      layout.titles[this.section] === this.top + i ? line.map(({ text }) => ({ text, style: "chosen" as const })) : line,
    );
    return [this.headLine(shown.read), ...lines];
  }

  key(key: Key): Action {
    const { run, file } = this.of;
    const step = movement(key, this.rows);
    if (step !== null) this.top = clamp(this.top + step, 0, Number.MAX_SAFE_INTEGER);
    else if (key === "q") return "quit";
    else if (key === "b" || key === "r" || key === "escape") return "back";
    else if (key === "n" || key === "right") this.show(this.index + 1);
    else if (key === "p" || key === "left") this.show(this.index - 1);
    else if (key === "tab") this.toSection(this.section + 1);
    else if (key === "shift-tab") this.toSection(this.section - 1);
    else if (key === "enter" || key === "space") this.fold([this.section], !this.folded.has(this.section));
    else if (key === "e") this.fold(this.allSections(), false);
    else if (key === "x") this.fold(this.allSections(), true);
    else if (key === "l") return { open: new LogPage(this.context, run) };
    else if (key === "s" || key === "/") return { open: searchPage(this.context, run, file) };
    return "stay";
  }

  copy(): string {
    return (this.shown?.sections ?? []).map(({ title, lines }) => `${title}\n${lines.join("\n")}\n`).join("\n");
  }

  async close(): Promise<void> {}

  private headLine(read: ReadRow | null): Line {
    const { file, run } = this.of;
    const place = span(`Rollout ${this.index + 1} of ${file.count}${file.known ? "" : "+"}`, "strong");
    if (read === null || "problem" in read) return [place, span(`  ${run.id}`, "faint")];
    const { example, rollout, reward, error } = headOf(read.row);
    return [
      place,
      span(`  example ${example}${rollout === "" ? "" : `, attempt ${rollout}`}  reward `, "faint"),
      span(rewardText(reward), rewardStyle(reward)),
      ...(error === null ? [] : [span(`  ${error}`, "bad")]),
      span(`  ${run.id}`, "faint"),
    ];
  }

  /** Behind the last comes the first, before the first the last. */
  private show(index: number): void {
    this.request += 1;
    this.context.work(this.read(index, this.request));
  }

  private async read(wanted: number, request: number): Promise<void> {
    const { file, seen } = this.of;
    let index = wanted;
    if (index < 0) {
      await file.scanTo(Number.POSITIVE_INFINITY);
      index = Math.max(0, file.count - 1);
    }
    let read = await file.row(index);
    if (read === null) {
      index = 0;
      read = await file.row(0);
    }
    if (request !== this.request || read === null) return;
    this.index = index;
    this.shown = { read, sections: "problem" in read ? brokenSections(read) : sectionsOf(read.row) };
    this.folded.clear();
    this.section = 0;
    this.top = 0;
    seen?.(index);
    this.context.changed();
  }

  private layoutFor(shown: Shown, width: number): Layout {
    if (this.layout?.width !== width || this.layout.of !== shown) {
      this.layout = { width, of: shown, value: layoutOf(shown.sections, this.folded, width, this.of.hit?.pattern ?? null) };
    }
    return this.layout.value;
  }

  private allSections(): readonly number[] {
    return (this.shown?.sections ?? []).map((_, index) => index);
  }

  private toSection(index: number): void {
    const count = this.shown?.sections.length ?? 0;
    this.section = count === 0 ? 0 : (index + count) % count;
    this.top = this.layout?.value.titles[this.section] ?? 0;
  }

  private fold(sections: readonly number[], fold: boolean): void {
    for (const index of sections) {
      if (fold) this.folded.add(index);
      else this.folded.delete(index);
    }
    this.layout = null;
  }
}

const brokenSections = ({ problem, text }: Extract<ReadRow, { problem: string }>): readonly Section[] => [
  { part: "details", title: problem, lines: text.split("\n") },
];

/** A search in the rollouts of a run; its hits lead to pages of rollouts. */
export const searchPage = (context: ViewContext, run: FoundRun, file: ResultsFile): Page =>
  new SearchPage(context, file, ({ row, section, line }, pattern) => new RolloutPage(context, { run, file, index: row, hit: { section, line, pattern } }));
