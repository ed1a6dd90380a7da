import { batch, signal } from "@preact/signals";
import type { EvaluationList, ListedEvaluation } from "../../api/answers.ts";
import type { Api } from "../../api/ask.ts";
import type { Problem } from "../../api/problem.ts";
import { type Connection, EventStream } from "../../live/event-stream.ts";
import type { Visibility } from "../../live/visibility.ts";
import { listQueryOf, type RunsQuery } from "./runs-query.ts";

/** What no event tells of, such as a notice of removal, appears so often. */
const LIST_MS = 60_000;
/** After a look that failed. */
const FAILED_MS = 5_000;

/** The runs of one view: loaded, looked for again now and then, and in between kept as they are by the service's events. */
export class RunsStore {
  /** Null until the first answer. */
  readonly runs = signal<readonly ListedEvaluation[] | null>(null);
  readonly total = signal(0);
  /** Of the last look; with runs that were seen before it these are stale. */
  readonly problem = signal<Problem | null>(null);
  readonly isLoading = signal(false);
  readonly connection = signal<Connection>("over");
  /** When what is shown was last as the service has it, in Unix milliseconds. */
  readonly seenAt = signal(0);

  readonly #api: Api;
  readonly #visibility: Visibility;
  #query: RunsQuery | null = null;
  #asked: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #changes: string | null = null;
  #stream: { readonly ids: string; readonly stream: EventStream } | null = null;
  readonly #unlisten: () => void;

  constructor(api: Api, visibility: Visibility) {
    this.#api = api;
    this.#visibility = visibility;
    this.#unlisten = visibility.listen(() => {
      if (visibility.isVisible() && this.#query !== null) void this.refresh();
    });
  }

  /** Shows another view. What is shown stays until the answer is there. */
  show(query: RunsQuery): void {
    const key = JSON.stringify(listQueryOf(query));
    const same = this.#query !== null && JSON.stringify(listQueryOf(this.#query)) === key;
    this.#query = query;
    if (!same) void this.refresh();
  }

  /** Looks for the runs again. */
  async refresh(): Promise<void> {
    if (this.#query === null) return;
    clearTimeout(this.#timer);
    this.#asked?.abort();
    const asked = new AbortController();
    this.#asked = asked;
    this.isLoading.value = true;
    try {
      const answer = await this.#api.ask<EvaluationList>("/evaluations/", { query: listQueryOf(this.#query), signal: asked.signal });
      batch(() => {
        this.isLoading.value = false;
        this.problem.value = answer.ok ? null : answer.problem;
        if (!answer.ok) return;
        const known = new Map((this.runs.value ?? []).map((run) => [run.evaluation_id, run]));
        this.runs.value = answer.value.evaluations.map((run) => newest(run, known.get(run.evaluation_id)));
        this.total.value = answer.value.total;
        this.seenAt.value = Date.now();
      });
      this.#follow();
    } catch {
      // Given up: another look has begun, or the page is left.
      return;
    }
    const wait = this.problem.value === null ? LIST_MS : FAILED_MS;
    this.#timer = setTimeout(() => {
      if (this.#visibility.isVisible()) void this.refresh();
    }, wait);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#stream?.stream.close();
    this.#unlisten();
    this.#query = null;
  }

  /** Follows the runs of this view that go on. */
  #follow(): void {
    const ids = (this.runs.value ?? [])
      .filter(({ edgewise }) => !edgewise.settled)
      .map(({ evaluation_id }) => evaluation_id)
      .sort()
      .join(",");
    if (ids === this.#stream?.ids && this.connection.value !== "over") return;
    this.#stream?.stream.close();
    const stream = new EventStream(
      {
        open: (_lastId, abort) =>
          this.#api.open("/evaluation-states", { query: { ids, list: "true" }, headers: { accept: "text/event-stream" }, signal: abort }),
        visibility: this.#visibility,
        random: Math.random,
      },
      {
        event: ({ event, data }) => {
          if (event === "state") this.#take(JSON.parse(data) as ListedEvaluation);
          else if (event === "gone") void this.refresh();
          else if (event === "list") this.#hear((JSON.parse(data) as { changes: string }).changes);
        },
        connection: (state) => {
          this.connection.value = state;
          if (state === "live" && this.problem.value !== null) void this.refresh();
        },
      },
    );
    this.#stream = { ids, stream };
    void stream.follow();
  }

  /** The list is another one than when it was last told. */
  #hear(changes: string): void {
    if (changes !== this.#changes) void this.refresh();
    this.#changes = changes;
  }

  /** The Registry hears of a run late, its events are of the moment; what the list alone knows stays. */
  #take(run: ListedEvaluation): void {
    batch(() => {
      this.seenAt.value = Date.now();
      this.runs.value = (this.runs.value ?? []).map((known) => (known.evaluation_id === run.evaluation_id ? withStanding(run, known) : known));
    });
  }
}

/** The list may be behind what its run has said by the stream. */
const newest = (listed: ListedEvaluation, known: ListedEvaluation | undefined): ListedEvaluation =>
  known !== undefined && (known.updated_at ?? "") > (listed.updated_at ?? "") ? withStanding(known, listed) : listed;

const withStanding = (run: ListedEvaluation, { edgewise: { kept, removal_at } }: ListedEvaluation): ListedEvaluation => ({
  ...run,
  edgewise: { ...run.edgewise, ...(kept === undefined ? {} : { kept }), ...(removal_at === undefined ? {} : { removal_at }) },
});
