/** The tree of environments, models and runs, and beside it what is known about the one that is chosen. */
import { type Line, type Size, sideBySide, span, textOf, windowOf } from "../../terminal/canvas.ts";
import type { Key } from "../../terminal/keys.ts";
import type { Action, Page, ViewContext } from "../page.ts";
import { dateText } from "../row-facts.ts";
import { groupLines, rewardStyle, rewardText, runLines } from "../run-lines.ts";
import { clamp, movement, topFor } from "../../terminal/scroll.ts";
import { openNodes, parentOf, type TreeNode, treeOf } from "../tree.ts";
import { RunPage } from "./run-page.ts";

/** With more runs than this only the environments are open at first. */
const OPEN_RUNS = 40;
/** Copied lines are not wrapped for the screen. */
const COPY_COLUMNS = 120;

export class BrowserPage implements Page {
  readonly help = "↑↓ move · Enter open · ←→ close, open · Tab pane · c copy · q quit";
  private readonly context: ViewContext;
  private readonly tree: ReturnType<typeof treeOf>;
  private readonly open = new Set<string>();
  private at = 0;
  private top = 0;
  private details = { focus: false, top: 0 };
  private rows = 1;

  constructor(context: ViewContext) {
    this.context = context;
    this.tree = treeOf(context.runs);
    const all = context.runs.length <= OPEN_RUNS;
    for (const env of this.tree) {
      this.open.add(env.key);
      if (all) for (const model of env.models) this.open.add(model.key);
    }
  }

  draw({ columns, rows }: Size): readonly Line[] {
    const nodes = this.nodes();
    this.rows = rows - 1;
    this.at = clamp(this.at, 0, nodes.length - 1);
    this.top = topFor(this.at, this.top, this.rows, nodes.length);
    const left = clamp(Math.floor(columns * 0.47), 20, 70);
    const right = columns - left - 3;
    const count = this.context.runs.length;
    const shown = nodes.slice(this.top, this.top + this.rows).map((node, i) => this.nodeLine(node, this.top + i === this.at));
    const details = this.detailLines(nodes[this.at], right);
    this.details.top = clamp(this.details.top, 0, Math.max(0, details.length - this.rows));
    return [
      [
        span("Results", "strong"),
        span(`  ${count} ${count === 1 ? "run" : "runs"}, ${this.tree.length} ${this.tree.length === 1 ? "environment" : "environments"}`, "faint"),
      ],
      ...sideBySide(shown, left, windowOf(details, this.details.top, this.rows), right, this.rows),
    ];
  }

  key(key: Key): Action {
    const step = movement(key, this.rows);
    if (step !== null) {
      // Lengths are only known when drawn, which brings what is too far back.
      if (this.details.focus) this.details.top = clamp(this.details.top + step, 0, Number.MAX_SAFE_INTEGER);
      else this.choose(clamp(this.at + step, 0, this.nodes().length - 1));
      return "stay";
    }
    const node = this.nodes()[this.at];
    if (key === "q") return "quit";
    if (key === "tab" || key === "shift-tab") this.details.focus = !this.details.focus;
    if (node === undefined) return "stay";
    if (key === "enter" && node.kind === "run") return { open: new RunPage(this.context, node.run) };
    if (key === "enter" || key === "space") this.toggle(node);
    if (key === "right" && node.kind !== "run") this.open.add(node.key);
    if (key === "left") {
      if (this.open.has(node.key)) this.open.delete(node.key);
      else this.choose(parentOf(this.nodes(), this.at));
    }
    return "stay";
  }

  /** The folder of a run; of more, what is said about them. */
  copy(): string {
    const node = this.nodes()[this.at];
    return node?.kind === "run" ? node.run.path : this.detailLines(node, COPY_COLUMNS).map(textOf).join("\n");
  }

  async close(): Promise<void> {}

  private nodes(): readonly TreeNode[] {
    return openNodes(this.tree, this.open);
  }

  private choose(at: number): void {
    if (at !== this.at) this.details.top = 0;
    this.at = at;
  }

  private toggle(node: TreeNode): void {
    if (node.kind === "run") return;
    if (!this.open.delete(node.key)) this.open.add(node.key);
  }

  private nodeLine(node: TreeNode, chosen: boolean): Line {
    const focused = chosen && !this.details.focus;
    const style = focused ? "chosen" : chosen ? "strong" : "plain";
    if (node.kind === "run") {
      const info = this.context.infos.get(node.run);
      const reward = info === null || "problem" in info ? null : info.averageReward;
      const broken = info !== null && "problem" in info;
      const status = info === null || "problem" in info || info.status === null || info.status === "COMPLETED" ? "" : ` ${info.status.toLowerCase()}`;
      return [
        span(`    ${node.run.id}  `, style),
        span((broken ? "?" : rewardText(reward)).padStart(5), focused ? "chosen" : broken ? "bad" : rewardStyle(reward)),
        span(`  ${node.run.changed === 0 ? "" : dateText(node.run.changed)}${status}`, focused ? "chosen" : "faint"),
      ];
    }
    const mark = this.open.has(node.key) ? "▾" : "▸";
    return [span(`${node.kind === "model" ? "  " : ""}${mark} ${node.name}`, style), span(`  ${node.runs.length}`, focused ? "chosen" : "faint")];
  }

  private detailLines(node: TreeNode | undefined, width: number): readonly Line[] {
    if (node === undefined) return [];
    const { infos } = this.context;
    if (node.kind === "run") return runLines(node.run, infos.get(node.run), null, width);
    return groupLines(node.name, node.runs, (run) => infos.get(run), width);
  }
}
