/** Looking through all rollouts of a run for a pattern: hits in prompts and in completions, each a way to its rollout. */
import { type Line, lineOf, type Size, type Span, span } from "../../terminal/canvas.ts";
import type { Key } from "../../terminal/keys.ts";
import { marked } from "../layout.ts";
import type { Action, Page, ViewContext } from "../page.ts";
import type { ResultsFile } from "../results-file.ts";
import { clamp, movement, topFor } from "../../terminal/scroll.ts";
import { type Hit, MOST_HITS, patternOf, RolloutSearch, type SearchedPart } from "../search.ts";

const PARTS: readonly SearchedPart[] = ["prompt", "completion"];
/** Characters of a pattern. */
const LONGEST = 500;

export class SearchPage implements Page {
  private readonly context: ViewContext;
  private readonly file: ResultsFile;
  /** The page of a hit. */
  private readonly pageOf: (hit: Hit, pattern: RegExp) => Page;
  typing = true;
  private text = "";
  private problem: string | null = null;
  private pattern: RegExp | null = null;
  private search: RolloutSearch | null = null;
  private part: SearchedPart = "completion";
  private at = 0;
  private top = 0;
  private rows = 1;

  /** `file` belongs to the page of the run. */
  constructor(context: ViewContext, file: ResultsFile, pageOf: (hit: Hit, pattern: RegExp) => Page) {
    this.context = context;
    this.file = file;
    this.pageOf = pageOf;
  }

  get help(): string {
    return this.typing ? "Enter search · Esc close" : "↑↓ hit · ←→ prompts, completions · Enter go there · s new search · Esc close";
  }

  draw({ rows }: Size): readonly Line[] {
    this.rows = rows - 3;
    const input = [span("Search  ", "strong"), span(this.text), ...(this.typing ? [span(" ", "chosen")] : [])];
    if (this.problem !== null) return [input, lineOf(`not a regular expression: ${this.problem}`, "bad")];
    if (this.search === null) return [input, lineOf("A regular expression, without regard to case, in the prompts and completions of all rollouts.", "faint")];
    const { search } = this;
    const hits = search.hits[this.part];
    this.at = clamp(this.at, 0, Math.max(0, hits.length - 1));
    this.top = topFor(this.at, this.top, this.rows, hits.length);
    const tabs = PARTS.flatMap((part): readonly Span[] => {
      const count = `${search.hits[part].length}${search.full(part) ? "+" : ""}`;
      return [span(` ${part}s ${count} `, part === this.part ? "chosen" : "plain"), span(" ")];
    });
    const seen = search.done ? `${search.rows} rollouts` : `searching … ${search.rows} rollouts`;
    const most = search.full(this.part) ? `, the first ${MOST_HITS} lines` : "";
    return [
      input,
      [...tabs, span(` ${seen}${most}`, "faint")],
      ...(hits.length === 0 ? [lineOf(search.done ? "nothing found" : "", "faint")] : this.hitLines()),
    ];
  }

  key(key: Key): Action {
    if (key === "escape") return "back";
    if (this.typing) this.type(key);
    else {
      const step = movement(key, this.rows);
      const hit = this.search?.hits[this.part][this.at];
      if (step !== null) this.at = clamp(this.at + step, 0, Number.MAX_SAFE_INTEGER);
      else if (key === "left" || key === "right" || key === "tab") this.turn(this.part === "prompt" ? "completion" : "prompt");
      else if (key === "s" || key === "/") this.typing = true;
      else if (key === "b") return "back";
      else if (key === "q") return "quit";
      else if (key === "enter" && hit !== undefined && this.pattern !== null) return { open: this.pageOf(hit, this.pattern) };
    }
    return "stay";
  }

  async close(): Promise<void> {
    this.search?.stop();
  }

  private turn(part: SearchedPart): void {
    this.part = part;
    this.at = 0;
  }

  private type(key: Key): void {
    if (key === "enter") this.start();
    else if (key === "backspace") this.text = [...this.text].slice(0, -1).join("");
    else if (key === "clear") this.text = "";
    else if (key === "space" || [...key].length === 1) this.text = (this.text + (key === "space" ? " " : key)).slice(0, LONGEST);
  }

  private start(): void {
    this.search?.stop();
    this.search = null;
    this.problem = null;
    if (this.text === "") return;
    const pattern = patternOf(this.text);
    if (typeof pattern === "string") {
      this.problem = pattern;
      return;
    }
    const search = new RolloutSearch(pattern);
    this.search = search;
    this.pattern = pattern;
    this.at = 0;
    this.typing = false;
    this.context.work(
      search.run(this.file.rows(), () => {
        // The part in which something was found, when the other has nothing.
        if (search.done && search.hits[this.part].length === 0) this.turn(search.hits.prompt.length > 0 ? "prompt" : "completion");
        this.context.changed();
      }),
    );
  }

  private hitLines(): readonly Line[] {
    const hits = this.search?.hits[this.part] ?? [];
    return hits.slice(this.top, this.top + this.rows).map(({ row, text }, i) => {
      const number = span(`#${row + 1}`.padEnd(8), "faint");
      return this.top + i === this.at ? [{ ...number, style: "chosen" as const }, span(text, "chosen")] : [number, ...marked(text, this.pattern)];
    });
  }
}
