/** The logs of a run: all by time, then each file. */
import { type Line, lineOf, type Size, type Span, span, windowOf } from "../../terminal/canvas.ts";
import type { FoundRun } from "../find-runs.ts";
import type { Key } from "../../terminal/keys.ts";
import { type LogFile, mergedLogs, readLogs } from "../log-files.ts";
import type { Action, Page, ViewContext } from "../page.ts";
import { clamp, movement } from "../../terminal/scroll.ts";

export class LogPage implements Page {
  readonly help = "↑↓ scroll · ←→ file · c copy · b back · q quit";
  private readonly context: ViewContext;
  private readonly run: FoundRun;
  private tabs: readonly LogFile[] | null = null;
  private tab = 0;
  /** Each tab begins at its newest line. */
  private top = Number.POSITIVE_INFINITY;
  private rows = 1;

  constructor(context: ViewContext, run: FoundRun) {
    this.context = context;
    this.run = run;
    context.work(this.load());
  }

  draw({ rows }: Size): readonly Line[] {
    this.rows = rows - 2;
    const head = [span("Logs", "strong"), span(`  ${this.run.id}`, "faint")];
    const { tabs } = this;
    if (tabs === null) return [head, lineOf("reading …", "faint")];
    const open = tabs[this.tab];
    if (open === undefined) return [head, lineOf("This run has no log.", "faint")];
    // Of many workers' logs those around the open one are named.
    const first = Math.max(0, this.tab - 2);
    const names = tabs.slice(first).flatMap(({ name }, i): readonly Span[] => [span(` ${name} `, first + i === this.tab ? "chosen" : "plain"), span(" ")]);
    this.top = clamp(this.top, 0, Math.max(0, open.lines.length - this.rows));
    return [
      [...head, span(open.note === null ? "" : `  ${open.note}`, "faint")],
      names,
      ...windowOf(open.lines.slice(this.top, this.top + this.rows).map(logLine), 0, this.rows),
    ];
  }

  key(key: Key): Action {
    const step = movement(key, this.rows);
    const count = Math.max(1, this.tabs?.length ?? 1);
    if (step !== null) this.top = clamp(this.top + step, 0, Number.MAX_SAFE_INTEGER);
    else if (key === "q") return "quit";
    else if (key === "b" || key === "l" || key === "escape") return "back";
    else if (key === "right" || key === "tab") this.open((this.tab + 1) % count);
    else if (key === "left" || key === "shift-tab") this.open((this.tab + count - 1) % count);
    return "stay";
  }

  copy(): string {
    return (this.tabs?.[this.tab]?.lines ?? []).join("\n");
  }

  async close(): Promise<void> {}

  private open(tab: number): void {
    this.tab = tab;
    this.top = Number.POSITIVE_INFINITY;
  }

  private async load(): Promise<void> {
    const files = await readLogs(this.run.path);
    const notes = files.flatMap(({ name, note }) => (note === null ? [] : [`${name}: ${note}`]));
    const all = { name: "all", lines: mergedLogs(files), note: notes.length === 0 ? null : notes.join(" · ") };
    this.tabs = files.length > 1 ? [all, ...files] : files;
    this.context.changed();
  }
}

const logLine = (text: string): Line => lineOf(text, / - (?:ERROR|CRITICAL) - /.test(text) ? "bad" : / - WARNING - /.test(text) ? "fair" : "plain");
