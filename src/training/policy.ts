import { canonicalJson } from "../config/canonical-json.ts";
import type { Failure } from "../errors/result.ts";
import { isDue } from "../evaluators/due.ts";
import type { Creator } from "../schedules/state.ts";
import { CREATE_WAITS, GIVE_UP_MS, LOOK_WAITS, waitOf } from "../schedules/waits.ts";
import type { Evaluation, EvaluatorDefinition } from "./definition.ts";
import { endOf } from "./run-end.ts";
import type { Action, EvaluatorState, Note, Open, PausedEvaluator, PostedStep, Posting, SeenRun, StepEnd } from "./state.ts";

/** What a training loop's evaluator decides: pure, one step for each thing that happens. */

export type EvaluatorEvent =
  /** Time has passed, as far as anybody knows: the alarm, the watchdog, a restart. */
  | { readonly type: "tick" }
  | { readonly type: "put"; readonly definition: EvaluatorDefinition; readonly creator: Creator }
  /** Steps are passed over from here on; what is posted already goes on. Paused once more it keeps its first reason. */
  | { readonly type: "paused"; readonly by: string; readonly reason: string }
  | { readonly type: "resumed" }
  /** `known`: evaluations that had this step before, finished or not. */
  | { readonly type: "posted"; readonly posted: PostedStep; readonly known: readonly string[]; readonly creator: Creator }
  | { readonly type: "created"; readonly step: number; readonly evaluation: string; readonly run_id: string }
  /** `passing`: the same may go well in a while. */
  | { readonly type: "refused"; readonly step: number; readonly evaluation: string; readonly failure: Failure; readonly passing: boolean }
  /** Null: there is no such run. */
  | { readonly type: "looked"; readonly run_id: string; readonly seen: SeenRun | null }
  /** Its numbers are not known yet, since something that may pass is in the way; null: nothing is. */
  | { readonly type: "hindered"; readonly run_id: string; readonly failure: Failure | null }
  /** Points have arrived where they are posted to. `all`: none is left. */
  | { readonly type: "delivered"; readonly all: boolean }
  | { readonly type: "undelivered"; readonly failure: Failure };

export interface Step {
  readonly state: EvaluatorState;
  readonly actions: readonly Action[];
  readonly notes: readonly Note[];
  /** When it wants to be woken; null = nothing is to come by itself. */
  readonly wake_at: number | null;
}

/** Evaluations that are not finished; each is kept with the table that it is made from. */
export const MOST_OPEN = 50;
/** Between attempts to post points. */
const POST_WAITS = { first: 5_000, last: 30 * 60_000 };
/** Things that one step has done outside; what is left has its turn at once. */
const MOST_ACTIONS = 20;

export const newEvaluator = (name: string, id: string, definition: EvaluatorDefinition, creator: Creator, now: number): EvaluatorState => ({
  version: 1,
  name,
  id,
  definition,
  creator,
  created_at: now,
  updated_at: now,
  open: [],
  posting: null,
});

/** Which evaluations of an evaluator a step is due at. One that is passed over while it is paused may be posted again. */
export function dueAt(
  { definition: { evaluations }, paused }: Pick<EvaluatorState, "definition" | "paused">,
  { step: index, final, now }: Pick<PostedStep, "step" | "final" | "now">,
): readonly Evaluation[] {
  if (now === true) return evaluations;
  if (paused !== undefined) return [];
  return evaluations.filter(({ run_every }) => (final === true ? Math.trunc(run_every) <= 0 : isDue(index, run_every)));
}

/** `serving`: whether anything is begun; where it is not, what is posted waits until somebody serves. */
export function step(before: EvaluatorState, now: number, event: EvaluatorEvent, serving = true): Step {
  const evaluator = new Deciding(before, now);
  evaluator.take(event);
  evaluator.release();
  const actions = serving ? evaluator.actions() : [];
  return { state: evaluator.state, actions, notes: evaluator.notes, wake_at: evaluator.wakeAt() };
}

class Deciding {
  state: EvaluatorState;
  readonly notes: Note[] = [];
  readonly #now: number;

  constructor(state: EvaluatorState, now: number) {
    this.state = state;
    this.#now = now;
  }

  take(event: EvaluatorEvent): void {
    if (event.type === "put") this.#put(event.definition, event.creator);
    else if (event.type === "paused") this.#paused({ at: this.#now, by: event.by, reason: event.reason });
    else if (event.type === "resumed") this.#resumed();
    else if (event.type === "posted") this.#posted(event);
    else if (event.type === "created") this.#created(event.step, event.evaluation, event.run_id);
    else if (event.type === "refused") this.#refused(event.step, event.evaluation, event.failure, event.passing);
    else if (event.type === "looked") this.#looked(event.run_id, event.seen);
    else if (event.type === "hindered") this.#hindered(event.run_id, event.failure);
    else if (event.type === "delivered") this.#change({ posting: event.all || this.state.posting === null ? null : this.#postNow() });
    else if (event.type === "undelivered" && this.state.posting !== null) this.#change({ posting: { ...this.state.posting, failure: event.failure } });
  }

  /** Of what waits in a queue the lowest step of each evaluation, where none of it is at work. */
  release(): void {
    for (const name of new Set(this.state.open.filter(({ queued }) => queued).map(nameOf))) {
      const ofThis = this.state.open.filter((each) => nameOf(each) === name);
      if (ofThis.some(({ queued }) => !queued)) continue;
      const [next] = ofThis.toSorted((a, b) => stepOf(a) - stepOf(b));
      if (next !== undefined) this.#replace(next, { ...next, queued: false, since: this.#now, retry_at: this.#now });
    }
  }

  /** What is to be done now; each is dated again, so that it is repeated until somebody tells what came of it. */
  actions(): readonly Action[] {
    const due = this.state.open.filter(({ queued, retry_at }) => !queued && retry_at <= this.#now).slice(0, MOST_ACTIONS);
    const { posting } = this.state;
    const posts: Action[] = posting !== null && posting.retry_at <= this.#now ? [{ do: "post" }] : [];
    if (posting !== null && posts.length > 0)
      this.#change({ posting: { ...posting, tries: posting.tries + 1, retry_at: this.#now + waitOf(POST_WAITS, posting.tries) } });
    const works = due.flatMap((open): Action[] => {
      const { order, run_id, tries, replaced_by } = open;
      const wait = waitOf(run_id === null ? CREATE_WAITS : LOOK_WAITS, tries);
      this.#replace(open, { ...open, tries: tries + 1, retry_at: this.#now + wait });
      if (run_id === null) return [{ do: "create", step: order.posted.step, evaluation: order.evaluation.name }];
      const look: Action = { do: "look", run_id, metrics: order.evaluation.metrics };
      return replaced_by === undefined ? [look] : [{ do: "cancel", run_id }, look];
    });
    return [...works, ...posts];
  }

  wakeAt(): number | null {
    const { open, posting } = this.state;
    const times = [...open.filter(({ queued }) => !queued), ...(posting === null ? [] : [posting])].map(({ retry_at }) => retry_at);
    return times.length === 0 ? null : Math.max(this.#now, Math.min(...times));
  }

  #change(changes: Partial<EvaluatorState>): void {
    this.state = { ...this.state, ...changes };
  }
  #replace(old: Open, made: Open): void {
    this.#change({ open: this.state.open.map((each) => (each === old ? made : each)) });
  }
  #end(open: Open, end: StepEnd): void {
    this.#change({ open: this.state.open.filter((each) => each !== open) });
    this.notes.push({ note: "ended", step: stepOf(open), evaluation: nameOf(open), end });
    const { definition, posting } = this.state;
    if (end.kind === "evaluated" && definition.mlflow !== undefined && posting === null) this.#change({ posting: this.#postNow() });
  }
  #find(index: number, evaluation: string): Open | undefined {
    return this.state.open.find((each) => stepOf(each) === index && nameOf(each) === evaluation);
  }

  #postNow(): Posting {
    return { tries: 0, retry_at: this.#now };
  }

  #put(definition: EvaluatorDefinition, creator: Creator): void {
    const [before, after] = [this.state.definition, definition];
    if (canonicalJson(before as never) === canonicalJson(after as never)) return;
    this.#change({ definition, creator, updated_at: this.#now });
    const target = ({ mlflow }: EvaluatorDefinition): string => `${mlflow?.tracking_uri} ${mlflow?.run_id}`;
    if (target(before) !== target(after)) this.notes.push({ note: "retargeted" });
    this.#change({ posting: after.mlflow === undefined ? null : this.#postNow() });
  }

  #paused(paused: PausedEvaluator): void {
    if (this.state.paused === undefined) this.#change({ paused });
  }
  #resumed(): void {
    const { paused: _, ...state } = this.state;
    this.state = state;
  }

  #posted({ posted, known, creator }: Extract<EvaluatorEvent, { type: "posted" }>): void {
    for (const { run_every: _, ...evaluation } of dueAt(this.state, posted)) {
      if (known.includes(evaluation.name) || this.#find(posted.step, evaluation.name) !== undefined) continue;
      const { id, name } = this.state;
      const key = `evaluator·${id}·${posted.step}·${evaluation.name}`;
      const made: Open = {
        order: { key, evaluator: name, posted, evaluation, creator },
        queued: false,
        since: this.#now,
        run_id: null,
        tries: 0,
        retry_at: this.#now,
      };
      this.notes.push({ note: "posted", posted, evaluation: evaluation.name });
      this.#admit(made);
    }
  }

  /** A step that has come, and those of its evaluation that are not finished: as the definition says. */
  #admit(made: Open): void {
    const { on_older } = this.state.definition;
    const others = this.state.open.filter((each) => nameOf(each) === nameOf(made));
    if (on_older === "replace") {
      const newer = others.filter((each) => stepOf(each) > stepOf(made)).map(stepOf);
      if (newer.length > 0) return this.#end(made, { kind: "replaced", by: Math.max(...newer) });
      for (const older of others) {
        // One that may be there already is ended when it is known.
        if (older.tries === 0 && older.run_id === null) this.#end(older, { kind: "replaced", by: stepOf(made) });
        else this.#replace(older, { ...older, replaced_by: stepOf(made), retry_at: Math.min(older.retry_at, this.#now) });
      }
    }
    if (this.state.open.length >= MOST_OPEN) {
      const message = `${MOST_OPEN} evaluations of this evaluator are not finished, and no more wait.`;
      return this.#end(made, { kind: "failed", failure: { code: "limit_reached", message, hint: 'on_older = "replace" makes room.' } });
    }
    this.#change({ open: [...this.state.open, on_older === "queue" && others.length > 0 ? { ...made, queued: true } : made] });
  }

  #created(index: number, evaluation: string, run_id: string): void {
    const open = this.#find(index, evaluation);
    if (open === undefined || open.run_id !== null) return;
    const { failure: _, ...rest } = open;
    this.notes.push({ note: "created", step: index, evaluation, run_id });
    this.#replace(open, { ...rest, run_id, tries: 0, retry_at: this.#now + (open.replaced_by === undefined ? LOOK_WAITS.first : 0) });
  }

  #refused(index: number, evaluation: string, failure: Failure, passing: boolean): void {
    const open = this.#find(index, evaluation);
    if (open === undefined || open.run_id !== null) return;
    // One that is not wanted any more is tried no longer, unless it may be there already.
    if (open.replaced_by !== undefined && failure.code !== "storage_unavailable") return this.#end(open, { kind: "replaced", by: open.replaced_by });
    if (passing && this.#now - open.since < GIVE_UP_MS) {
      const wait = Math.max(waitOf(CREATE_WAITS, open.tries), (failure.retry_after_s ?? 0) * 1_000);
      return this.#replace(open, { ...open, failure, retry_at: this.#now + Math.min(wait, CREATE_WAITS.last) });
    }
    this.#end(open, { kind: "failed", failure });
  }

  #hindered(run_id: string, failure: Failure | null): void {
    const open = this.state.open.find((each) => each.run_id === run_id);
    if (open === undefined) return;
    const { failure: _, ...rest } = open;
    this.#replace(open, failure === null ? rest : { ...rest, failure });
  }

  #looked(run_id: string, seen: SeenRun | null): void {
    const open = this.state.open.find((each) => each.run_id === run_id);
    if (open === undefined || (seen !== null && !seen.over)) return;
    this.#end(open, endOf(open, seen));
  }
}

const stepOf = ({ order }: Open): number => order.posted.step;
const nameOf = ({ order }: Open): string => order.evaluation.name;
