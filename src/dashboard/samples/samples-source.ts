import { batch, signal } from "@preact/signals";
import type { ColumnsLine } from "../../cells/column-lines.ts";
import { columnsText, MOST_COLUMNS, usualColumns } from "../../cells/column-names.ts";
import type { ListedEvaluation } from "../api/answers.ts";
import type { Api } from "../api/ask.ts";
import { isPassing, type Problem } from "../api/problem.ts";
import { type Connection, EventStream } from "../live/event-stream.ts";
import type { Visibility } from "../live/visibility.ts";
import { BROKEN_OFF } from "./broken-off.ts";
import { ColumnTable, PRESENCE } from "./columns/column-table.ts";
import { readLines } from "./columns/read-lines.ts";
import { Slices } from "./columns/slices.ts";
import { ROLLOUT, TOKENS } from "./filter/names.ts";

/** Between two looks for what a run has done since. */
const LOOK_MS = 1_000;
const FAILED_MS = 5_000;
/** Columns that the table makes of others. */
const MADE_HERE: readonly string[] = [ROLLOUT, TOKENS];

/** The numbers of one run: loaded once, and followed for as long as somebody looks. */
export class SamplesSource {
  readonly id: string;
  /** Null until its first line. */
  readonly table = signal<ColumnTable | null>(null);
  /** Another number each time the table took something. */
  readonly version = signal(0);
  /** The table had everything at least once. */
  readonly isWhole = signal(false);
  /** Of the last look; what is there stays. */
  readonly problem = signal<Problem | null>(null);
  /** The run itself; null until its stream says so. */
  readonly run = signal<ListedEvaluation | null>(null);
  readonly connection = signal<Connection>("connecting");
  /** When the table was last as the service has it, in Unix milliseconds. */
  readonly seenAt = signal(0);

  readonly #api: Api;
  readonly #visibility: Visibility;
  /** Columns that were asked for beside the usual ones, and those that were read for all rows. */
  readonly #wanted = new Set<string>();
  #loaded = new Set<string>();
  #look: AbortController | null = null;
  #lookAgain = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stream: EventStream | null = null;

  constructor(id: string, api: Api, visibility: Visibility) {
    this.id = id;
    this.#api = api;
    this.#visibility = visibility;
  }

  /** Begins to follow the run, or does so again after `rest`. */
  follow(): void {
    if (this.#stream !== null) return;
    this.refresh();
    const stream = new EventStream(
      {
        open: (_lastId, abort) =>
          this.#api.open("/evaluation-states", { query: { ids: this.id, list: "false" }, headers: { accept: "text/event-stream" }, signal: abort }),
        visibility: this.#visibility,
        random: Math.random,
      },
      {
        event: ({ event, data }) => {
          if (event === "state") this.#hear(JSON.parse(data) as ListedEvaluation);
          else if (event === "gone") this.refresh();
        },
        connection: (state) => {
          this.connection.value = state;
        },
      },
    );
    this.#stream = stream;
    void stream.follow();
  }

  /** Follows no longer, and keeps what it has. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#look?.abort();
    this.#look = null;
    this.#stream?.close();
    this.#stream = null;
  }

  /** Columns that are looked at: those that were never read are asked for. */
  need(columns: readonly string[]): void {
    const fresh = columns.filter((column) => !MADE_HERE.includes(column) && !this.#wanted.has(column));
    for (const column of fresh) this.#wanted.add(column);
    if (fresh.some((column) => !this.#loaded.has(column)) && this.isWhole.value) this.refresh();
  }

  /** Looks now for what is new. */
  refresh(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#look === null) void this.#looked();
    else this.#lookAgain = true;
  }

  #hear(run: ListedEvaluation): void {
    const before = this.run.value;
    this.run.value = run;
    const isNew =
      before === null || before.updated_at !== run.updated_at || before.edgewise.done_rollouts !== run.edgewise.done_rollouts || before.status !== run.status;
    if (isNew && this.#timer === undefined) this.#timer = setTimeout(() => this.refresh(), LOOK_MS);
  }

  async #looked(): Promise<void> {
    const look = new AbortController();
    this.#look = look;
    this.#lookAgain = false;
    try {
      const problem = await this.#take(look.signal);
      batch(() => {
        this.problem.value = problem;
        if (problem === null) this.seenAt.value = Date.now();
      });
    } catch (error) {
      if (look.signal.aborted) return;
      this.problem.value = BROKEN_OFF;
      if (!(error instanceof TypeError)) throw error;
    } finally {
      if (this.#look === look) this.#look = null;
    }
    const problem = this.problem.value;
    if (problem !== null && isPassing(problem)) this.#timer = setTimeout(() => this.refresh(), FAILED_MS);
    else if (problem === null && this.#lookAgain) this.refresh();
  }

  /** Reads what is new, then columns that are wanted and were never read. Null: all is well. */
  async #take(signal: AbortSignal): Promise<Problem | null> {
    const names = this.#names();
    const isFirst = names === null || !this.isWhole.value;
    const problem = await this.#read(
      isFirst ? {} : { names: columnsText(names.filter((name) => this.#loaded.has(name))), after: this.table.value?.seq },
      "all",
      signal,
    );
    if (problem !== null) return problem;
    this.isWhole.value = true;
    const missing = (this.#names() ?? []).filter((name) => !this.#loaded.has(name));
    return missing.length === 0 ? null : await this.#read({ names: columnsText([PRESENCE, ...missing]) }, "more", signal);
  }

  /** Columns that are to be there; null before anything is known. */
  #names(): readonly string[] | null {
    const table = this.table.value;
    if (table === null) return null;
    return [...new Set([...usualColumns(table.metrics), ...this.#wanted])].slice(0, MOST_COLUMNS);
  }

  /** `what` more: columns that were not read before; where the next look begins stays, since the others are of then. */
  async #read(query: Readonly<Record<string, string | number | undefined>>, what: "all" | "more", signal: AbortSignal): Promise<Problem | null> {
    const slices = new Slices(signal);
    for (let from: number | undefined; ; ) {
      const opened = await this.#api.open(`/evaluations/${this.id}/columns`, { query: { ...query, from }, signal });
      if (!opened.ok) return opened.problem;
      let next: number | null | undefined;
      let columns: readonly string[] = [];
      for await (const text of readLines(opened.value)) {
        const line = JSON.parse(text) as ColumnsLine;
        if (line.kind === "head") {
          if (this.#isOther(line)) {
            this.#begin(new ColumnTable(line));
            // What is asked for are changes of what is no more.
            if (what === "more" || query.after !== undefined) return await this.#read({}, "all", signal);
          }
          columns = line.columns;
        }
        if (line.kind === "end") next = line.next;
        if (line.kind !== "end" || (what === "all" && line.next === null)) this.table.value?.take(line);
        this.version.value++;
        await slices.breathe();
      }
      if (next === undefined) return BROKEN_OFF;
      for (const column of columns) this.#loaded.add(column);
      if (next === null) return null;
      from = next;
    }
  }

  #isOther({ generation, rollouts }: Extract<ColumnsLine, { kind: "head" }>): boolean {
    const table = this.table.value;
    return table === null || table.generation !== generation || table.rollouts !== Math.max(1, rollouts);
  }

  #begin(table: ColumnTable): void {
    batch(() => {
      this.table.value = table;
      this.isWhole.value = false;
      this.#loaded = new Set();
    });
  }
}
