import { batch, signal } from "@preact/signals";
import { Speed } from "../../../report/progress/speed.ts";
import type { Evaluation, FullState } from "../../api/run-answers.ts";
import type { Api } from "../../api/ask.ts";
import type { Problem } from "../../api/problem.ts";
import { type Connection, EventStream } from "../../live/event-stream.ts";
import type { Visibility } from "../../live/visibility.ts";

/** After a look that failed. */
const FAILED_MS = 5_000;
/** A push to the Hub goes on when the run is over, and no event tells of it. */
const PUSHING_MS = 5_000;

/** A run that is over: somebody else may resume it, score it again or delete it, of which no event tells either. */
const RESTING_MS = 30_000;

/** One run: loaded whole, and while it goes on kept as it is by the service's events. */
export class RunStore {
  /** Null until the first answer. */
  readonly run = signal<Evaluation | null>(null);
  /** Of the last look; with a run that was seen before, that is stale. */
  readonly problem = signal<Problem | null>(null);
  readonly connection = signal<Connection>("over");
  /** When what is shown was last as the service has it, in Unix milliseconds. */
  readonly seenAt = signal(0);
  /** It was there, and is not any more. */
  readonly isGone = signal(false);
  readonly speed = new Speed();

  readonly #api: Api;
  readonly #visibility: Visibility;
  readonly #id: string;
  #asked: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stream: EventStream | null = null;
  #isClosed = false;
  readonly #unlisten: () => void;

  constructor(api: Api, visibility: Visibility, id: string) {
    this.#api = api;
    this.#visibility = visibility;
    this.#id = id;
    this.#unlisten = visibility.listen(() => {
      if (visibility.isVisible()) void this.refresh();
    });
  }

  /** Looks at the run again. */
  async refresh(): Promise<void> {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#asked?.abort();
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const answer = await this.#api.ask<Evaluation>(`/evaluations/${encodeURIComponent(this.#id)}`, { signal: asked.signal });
      batch(() => {
        this.problem.value = answer.ok ? null : answer.problem;
        if (answer.ok) this.#show(answer.value);
        else if (answer.problem.status === 404) this.isGone.value = this.run.value !== null;
      });
    } catch {
      // Given up: another look has begun, or the page is left.
      return;
    }
    this.#follow();
    const wait = this.#restMs();
    if (wait === null) return;
    this.#timer = setTimeout(() => {
      if (this.#visibility.isVisible()) void this.refresh();
    }, wait);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#stream?.close();
    this.#unlisten();
  }

  /** Until the next look; null where events tell of everything, or somebody has to do something first. */
  #restMs(): number | null {
    const problem = this.problem.value;
    if (problem !== null) return problem.status === 404 || problem.kind === "signed-out" ? null : FAILED_MS;
    const state = this.run.value?.edgewise;
    if (state === undefined || !state.settled) return null;
    return state.hub_push?.status === "pushing" ? PUSHING_MS : RESTING_MS;
  }

  #show(run: Evaluation): void {
    this.run.value = run;
    this.isGone.value = false;
    this.seenAt.value = Date.now();
    this.speed.note(run.edgewise, performance.now());
  }

  /** One that goes on, by its events; a resume makes one that has ended go on. */
  #follow(): void {
    const run = this.run.value;
    if (run === null || run.edgewise.settled || this.problem.value !== null || this.#stream !== null || this.#isClosed) return;
    const stream = new EventStream(
      {
        open: (_lastId, abort) =>
          this.#api.open("/evaluation-states", {
            query: { ids: this.#id, full: "true" },
            headers: { accept: "text/event-stream" },
            signal: abort,
          }),
        visibility: this.#visibility,
        random: Math.random,
      },
      {
        event: ({ event, data }) => {
          if (event === "state") this.#take(JSON.parse(data) as FullState);
          else if (event === "gone") void this.refresh();
        },
        connection: (state, problem) => {
          this.connection.value = state;
          if (state === "live" && this.problem.value !== null) void this.refresh();
          if (state !== "over" || this.#stream !== stream) return;
          this.#stream = null;
          // What was refused for good is not asked again by itself.
          if (problem !== null && problem.status !== 404) this.problem.value = problem;
          else void this.refresh();
        },
      },
    );
    this.#stream = stream;
    void stream.follow();
  }

  #take(state: FullState): void {
    const known = this.run.value;
    if (known === null) return;
    const wakes = isAtRest(known) !== isAtRest(state);
    batch(() => this.#show(withState(known, state)));
    // What a resume would do, and how long it is kept, the events do not say.
    if (wakes) void this.refresh();
  }
}

const isAtRest = ({ edgewise: { settled, suspended } }: Pick<FullState, "edgewise">): boolean => settled || suspended;

/** What a state does not say stays as it was. */
function withState(known: Evaluation, state: FullState): Evaluation {
  const { settings, kept, removal_at, budget, resumable } = known.edgewise;
  return {
    ...known,
    ...state,
    edgewise: {
      ...state.edgewise,
      settings,
      ...(kept === undefined ? {} : { kept }),
      ...(removal_at === undefined ? {} : { removal_at }),
      ...(budget === undefined ? {} : { budget }),
      ...(resumable === undefined || !isAtRest(state) ? {} : { resumable }),
    },
  };
}
