import { canonicalJson } from "../../src/config/canonical-json.ts";
import { type Env, keepsSchedules, lifeOf } from "../../src/env.ts";
import { fail, ok, type Result } from "../../src/errors/result.ts";
import { isOnlyRemembered, knownBeat, newMonitor, step, type World, wouldLose } from "../../src/monitors/policy.ts";
import type { Memory, MonitorEvent, MonitorState } from "../../src/monitors/state.ts";
import { tellAlerts } from "../alert-book/tell-alerts.ts";
import { monitorIndexStub } from "../stubs.ts";
import { ClockedObject } from "../clocked-object.ts";
import type { MonitorControl, MonitorFacts, MonitorPut, MonitorView, RunReport } from "./monitor-control.ts";
import { occurrenceOf } from "./monitor-occurrence.ts";
import { type MonitorHead, MonitorStore } from "./monitor-store.ts";

/** Of its history, in a view. */
const SHOWN = 100;

const NO_MONITOR = fail("not_found", "Monitor not found.", "`npx edgewise monitor list` shows those there are.");

/**
 * One monitor: when its job was last heard of, and what that makes of it. Its alarm is its clock. Beats are remembered, and written down only where that
 * changes something or enough time has passed; what is decided is decided by one pure step (src/monitors/policy.ts) in one transaction, alarm included.
 */
export class Monitor extends ClockedObject<MonitorHead> implements MonitorControl {
  protected readonly kind = "monitor";
  protected readonly store: MonitorStore;
  protected readonly look = (): Promise<unknown> => this.#look();
  #memory: Memory;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.store = new MonitorStore(ctx.storage);
    this.#memory = { since: Date.now(), beat_at: null };
  }

  async put({ team, name, id, definition, secret_digest, by, only_if_missing }: MonitorPut): Promise<Result<{ view: MonitorView; made: boolean }>> {
    const made = this.ctx.storage.transactionSync((): Result<boolean> => {
      const head = this.store.head();
      if (!head.ok) return head;
      if (head.value !== null && !head.value.removed) return ok(false);
      const now = Date.now();
      // Above whatever the Registry may remember of it.
      const version = Math.max(now, head.value?.version ?? 0) + 1;
      const state = newMonitor({ name, id, definition, secret_digest, created_by: by }, now, lifeOf(this.env));
      const fresh: MonitorHead = { version, projected: 0, team, removed: false, state, owed: head.value?.owed ?? [] };
      if (head.value === null) this.store.make(fresh);
      else this.store.put(fresh);
      return ok(true);
    });
    if (!made.ok) return made;
    if (made.value) {
      this.#memory = { since: Date.now(), beat_at: null };
      // From the first monitor on the watchdog leaves its sign.
      await this.attempt("pulse", async () => void (await monitorIndexStub(this.env).heardFrom()));
    }
    const stays = made.value || only_if_missing === true;
    const view = await this.#answered(stays ? { type: "tick" } : { type: "put", definition });
    return view.ok ? ok({ view: view.value, made: made.value }) : view;
  }

  async view(): Promise<MonitorView | null> {
    const head = this.#head();
    return head === null ? null : this.#viewOf(head);
  }

  async beat({ secret_digest, done }: { readonly secret_digest: string; readonly done: boolean }): Promise<boolean> {
    const head = this.#head();
    if (head?.state.secret_digest !== secret_digest) return false;
    await this.#heard(head, done ? { type: "done", by: null } : { type: "beat" });
    return true;
  }

  async report(report: RunReport): Promise<boolean> {
    const head = this.#head();
    if (head === null) return false;
    await this.#heard(
      head,
      report.kind === "failed" ? { type: "failed", reason: report.reason } : report.kind === "done" ? { type: "done", by: null } : { type: "beat" },
    );
    return true;
  }

  async done({ by }: { readonly by: string }): Promise<Result<MonitorView>> {
    return this.#answered({ type: "done", by });
  }
  async pause(request: { readonly by: string; readonly reason: string }): Promise<Result<MonitorView>> {
    return this.#answered({ type: "pause", ...request });
  }
  async resume({ by }: { readonly by: string }): Promise<Result<MonitorView>> {
    return this.#answered({ type: "resume", by });
  }
  async rotate(request: { readonly by: string; readonly secret_digest: string }): Promise<Result<MonitorView>> {
    return this.#answered({ type: "rotate", ...request });
  }

  async remove(): Promise<"none" | "gone" | "owing"> {
    if (this.#head() === null) return "none";
    await this.#happened({ type: "remove" });
    const left = this.store.head();
    return left.ok && left.value === null ? "gone" : "owing";
  }

  /** A beat that says nothing new stays in memory: no row, no alarm, nobody told. */
  async #heard({ state }: MonitorHead, event: MonitorEvent): Promise<void> {
    const now = Date.now();
    if (event.type !== "failed") this.#memory = { ...this.#memory, beat_at: now };
    if (event.type === "beat" && isOnlyRemembered(state, this.#world(now))) return;
    await this.#happened(event);
  }

  /** Before silence is held against anybody it is asked whether the service was there to hear. */
  async #look(): Promise<void> {
    const head = this.#head();
    let heardFrom = 0;
    if (head !== null && wouldLose(head.state, this.#world(Date.now()))) {
      try {
        heardFrom = await monitorIndexStub(this.env).heardFrom();
      } catch (thrown) {
        return this.tryAgain("whether it was heard", thrown);
      }
    }
    await this.#happened({ type: "tick" }, heardFrom);
  }

  async #answered(event: MonitorEvent): Promise<Result<MonitorView>> {
    const happened = await this.#happened(event);
    if (!happened.ok) return happened;
    const head = this.#head();
    return head === null ? NO_MONITOR : ok(this.#viewOf(head));
  }

  /** One step, and what it leaves to be told. */
  async #happened(event: MonitorEvent, heardFrom = 0): Promise<Result<null>> {
    const decided = this.ctx.storage.transactionSync(() => this.#decide(event, heardFrom));
    if (!decided.ok) return decided;
    await this.attempt("alerts", () => this.#tell());
    await this.attempt("registry", () => this.project((head) => this.#tellRegistry(head)));
    return ok(null);
  }

  #decide(event: MonitorEvent, heardFrom: number): Result<null> {
    const head = this.store.head();
    if (!head.ok) return head;
    // Of a deleted one only what is owed is left to be done.
    if (head.value === null || (head.value.removed && event.type !== "tick")) return NO_MONITOR;
    if (head.value.removed) return ok(null);
    const now = Date.now();
    const before = head.value;
    const { state, history, told } = step(before.state, event, this.#world(now, heardFrom));
    const owed = [...before.owed, ...told.map((telling) => occurrenceOf(state, telling, now))];
    const removed = event.type === "remove";
    const isShown = before.projected === 0 || removed || owed.length !== before.owed.length || shownOf(before.state) !== shownOf(state);
    this.store.put({ ...before, state, owed, removed, version: before.version + (isShown ? 1 : 0) });
    this.store.note(history, now);
    if (this.#memory.beat_at !== null) this.#memory = { ...this.#memory, beat_at: state.beat_at };
    // One that came is to be set again, one that is still to come is not.
    const isSet = event.type !== "tick" && state.wake_at === before.state.wake_at;
    if (state.wake_at !== null && !removed && !isSet && keepsSchedules(this.env)) void this.ctx.storage.setAlarm(state.wake_at);
    return ok(null);
  }

  /** What is owed to the team's alerts, in order; and the end of one that is deleted, once nothing is. */
  async #tell(): Promise<void> {
    const head = this.store.head();
    if (!head.ok || head.value === null) return;
    const { owed, team, removed } = head.value;
    if (owed.length > 0) {
      if (!keepsSchedules(this.env)) return;
      await tellAlerts(this.env, team, owed);
      this.#taken(new Set(owed.map(({ id }) => id)));
    }
    if (removed) await this.ctx.storage.deleteAll();
  }

  #taken(ids: ReadonlySet<string>): void {
    this.ctx.storage.transactionSync(() => {
      const head = this.store.head();
      if (!head.ok || head.value === null) return;
      const owed = head.value.owed.filter(({ id }) => !ids.has(id));
      this.store.put({ ...head.value, owed, version: head.value.version + 1 });
    });
  }

  async #tellRegistry(head: MonitorHead): Promise<void> {
    const { version, state, team, owed, removed } = head;
    const wake_at = owed.length > 0 ? 0 : state.wake_at;
    await monitorIndexStub(this.env, team).projectMonitor({ name: state.name, id: state.id, version, wake_at, facts: removed ? null : factsOf(state) });
  }

  #world(now: number, heard_from = 0): World {
    return { now, memory: this.#memory, life: lifeOf(this.env), heard_from };
  }

  /** Null where there is none, or it is deleted. Throws for what another version has stored. */
  #head(): MonitorHead | null {
    const head = this.known();
    return head?.removed === true ? null : head;
  }

  #viewOf({ state }: MonitorHead): MonitorView {
    return { ...factsOf(state), beat_at: knownBeat(state, this.#memory), history: this.store.history(SHOWN) };
  }
}

const factsOf = ({ name, id, definition, created_by, created_at, updated_at, standing, since, beat_at, paused, losses }: MonitorState): MonitorFacts => ({
  name,
  id,
  definition,
  created_by,
  created_at,
  updated_at,
  standing,
  since,
  beat_at,
  paused,
  losses,
});

/** What lists and the watchdog are told of: not each beat. */
const shownOf = (state: MonitorState): string => {
  const { beat_at: _, ...facts } = factsOf(state);
  return canonicalJson({ ...facts, wake_at: state.wake_at } as never);
};
