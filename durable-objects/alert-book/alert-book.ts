import { DurableObject } from "cloudflare:workers";
import type { Attempt } from "../../src/alerts/answer.ts";
import { MOST_TOLD, type Occurrence, occurrenceSchema } from "../../src/alerts/occurrence.ts";
import type { Env } from "../../src/env.ts";
import { fail, ok, type Result } from "../../src/errors/result.ts";
import { MAX_ALERTS } from "../../src/limits.ts";
import { attempt } from "../owed-work.ts";
import type { AlertBookControl, AlertFacts, AlertPut, DeliveryFacts, DeliveryOrder } from "./alert-book-control.ts";
import { AlertBookStore, factsOf, type StoredAlert } from "./alert-book-store.ts";
import { sendAlertTask } from "./alert-task.ts";
import { begun, ended, nextLook, takeDue } from "./deliveries.ts";
import { takeOccurrence } from "./taking.ts";

/** So long after the alarm a message of the queue looks too: the platform has lost alarms. */
const BEHIND_MS = 60_000;

const NO_ALERT = fail("not_found", "Alert not found.", "`npx edgewise alert list` shows those there are.");
const drawMessageId = (): string => `msg_${crypto.randomUUID().replaceAll("-", "")}`;

/**
 * The alerts of one team: who wants to be told what, and what was told them. What is told is decided in one transaction with the occurrence; it is sent by
 * whoever a message of the queue wakes, who asks here first (`begin`) and says here what came of it (`ended`). Addresses and secrets are not here. The
 * machine's clock counts.
 */
export class AlertBook extends DurableObject<Env> implements AlertBookControl {
  readonly #store: AlertBookStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new AlertBookStore(ctx.storage);
  }

  async take({ occurrences }: { readonly team: string; readonly occurrences: readonly Occurrence[] }): Promise<Result<{ readonly asked: boolean }>> {
    const problem = tellingProblem(occurrences);
    if (problem !== null) return fail("invalid_request", problem);
    const alerts = this.#alerts();
    if (alerts.length === 0) return ok({ asked: false });
    this.ctx.storage.transactionSync(() => {
      for (const occurrence of occurrences) takeOccurrence(this.#store, occurrence, alerts, drawMessageId, Date.now());
      this.#store.prune(Date.now());
    });
    await this.#send();
    return ok({ asked: true });
  }

  async list(): Promise<readonly AlertFacts[]> {
    return this.#alerts().map((alert) => this.#factsOf(alert));
  }
  async get(name: string): Promise<AlertFacts | null> {
    const alert = this.#find(name);
    return alert === null ? null : this.#factsOf(alert);
  }

  async put({ team, name, id, definition, origin, by }: AlertPut): Promise<Result<AlertFacts>> {
    const now = Date.now();
    return this.ctx.storage.transactionSync((): Result<AlertFacts> => {
      const alerts = this.#alerts();
      const before = alerts.find((alert) => alert.name === name);
      if (before !== undefined && before.id !== id) return fail("illegal_transition", "Somebody else has made this alert meanwhile.", "Try again.");
      if (before === undefined && alerts.length >= MAX_ALERTS)
        return fail("invalid_request", `A team has at most ${MAX_ALERTS} alerts.`, "Delete those that nobody needs any more.");
      if (!this.#store.exists()) this.#store.make(team);
      const { created_at, created_by } = before ?? { created_at: now, created_by: by };
      const after = { name, id, definition, origin, created_at, created_by, updated_at: now, disabled: null, failures: 0, rests_until: 0 };
      this.#store.putAlert(after);
      return ok(this.#factsOf(after));
    });
  }

  async remove(name: string): Promise<AlertFacts | null> {
    const alert = this.#find(name);
    if (alert === null) return null;
    const facts = this.#factsOf(alert);
    this.ctx.storage.transactionSync(() => this.#store.removeAlert(alert));
    return facts;
  }

  async sendTest({ name, id }: { readonly name: string; readonly id: string }): Promise<Result<DeliveryFacts>> {
    const alert = this.#find(name);
    if (alert === null) return NO_ALERT;
    if (alert.disabled !== null)
      return fail("illegal_transition", `The alert is disabled: ${alert.disabled.reason}.`, "Put it again, with an address that is there.");
    const message = `msg_${id}`;
    const at = Date.now();
    this.ctx.storage.transactionSync(() => {
      if (this.#store.delivery(message) !== null) return;
      this.#store.addDelivery(message, alert, { id: `test/${id}`, type: "test", at, text: `This is a test of the alert ${name}.` }, at);
      // Somebody waits for it.
      this.#store.putAlert({ ...alert, rests_until: 0 });
    });
    await this.#send();
    return this.#deliveryOf(message);
  }

  async deliveries({ alert, limit }: { readonly alert: string | null; readonly limit: number }): Promise<readonly DeliveryFacts[]> {
    if (!this.#store.exists()) return [];
    const found = alert === null ? null : this.#find(alert);
    return alert !== null && found === null ? [] : this.#store.deliveries(found?.id ?? null, limit);
  }

  async resend({ name, delivery: id }: { readonly name: string; readonly delivery: string }): Promise<Result<DeliveryFacts>> {
    const alert = this.#find(name);
    if (alert === null) return NO_ALERT;
    const delivery = this.#store.delivery(id);
    if (delivery === null || delivery.alert_id !== alert.id)
      return fail("not_found", "There is no such message of this alert.", `\`npx edgewise alert log ${name}\` shows those there are.`);
    if (alert.disabled !== null)
      return fail("illegal_transition", `The alert is disabled: ${alert.disabled.reason}.`, "Put it again, with an address that is there.");
    const now = Date.now();
    this.ctx.storage.transactionSync(() => {
      // Where somebody is at it, it is being sent.
      if (!delivery.begun || delivery.held_until <= now)
        this.#store.putDelivery({ ...delivery, state: "waiting", tries: 0, first_at: now, next_at: now, begun: false, held_until: 0 });
      this.#store.putAlert({ ...alert, rests_until: 0 });
    });
    await this.#send();
    return this.#deliveryOf(id);
  }

  async begin(id: string): Promise<DeliveryOrder | null> {
    if (!this.#store.exists()) return null;
    const order = this.ctx.storage.transactionSync((): DeliveryOrder | null => {
      const alerts = this.#alerts();
      const alert = alerts.find((each) => each.id === this.#store.delivery(id)?.alert_id);
      if (alert === undefined || alert.disabled !== null) return null;
      const delivery = begun(this.#store, id, Date.now());
      if (delivery === null) return null;
      const { name, definition, origin } = alert;
      return { delivery: id, attempt: delivery.tries, alert: { name, id: alert.id, definition, origin }, told: delivery.told };
    });
    await this.#wakeForNext();
    return order;
  }

  async ended({ delivery: id, attempt, result }: { readonly delivery: string; readonly attempt: number; readonly result: Attempt }): Promise<void> {
    if (!this.#store.exists()) return;
    this.ctx.storage.transactionSync(() => {
      const delivery = this.#store.delivery(id);
      const alert = this.#alerts().find((each) => each.id === delivery?.alert_id);
      if (delivery === null || alert === undefined || !delivery.begun || delivery.tries !== attempt) return;
      ended(this.#store, alert, delivery, result, Date.now(), Math.random());
    });
    await this.#send();
    const next = nextLook(this.#store, Date.now());
    if (next === null || result.problem === null) return;
    await this.#attempt(() => sendAlertTask(this.env, { team: this.#store.team(), delivery: null }, next - Date.now() + BEHIND_MS));
  }

  async poke(): Promise<void> {
    if (this.#store.exists()) await this.#send();
  }

  override async alarm(): Promise<void> {
    await this.poke();
  }

  /** Sends for what is due, and dates the next look. */
  async #send(): Promise<void> {
    const due = this.ctx.storage.transactionSync(() => takeDue(this.#store, Date.now()));
    await this.#wakeForNext();
    const team = this.#store.team();
    await this.#attempt(async () => {
      for (const delivery of due) await sendAlertTask(this.env, { team, delivery });
    });
  }

  /** What is held is looked at when it is not held any more: a message of the queue that was lost costs a minute. */
  async #wakeForNext(): Promise<void> {
    const next = nextLook(this.#store, Date.now());
    if (next !== null) await this.ctx.storage.setAlarm(Math.max(next, Date.now() + 1));
  }

  #attempt(work: () => Promise<void>): Promise<void> {
    return attempt({ name: `alerts ${this.#store.team()}`, storage: this.ctx.storage, wakes: true }, "messages", work);
  }

  #alerts(): StoredAlert[] {
    return this.#store.exists() ? this.#store.alerts() : [];
  }
  #find(name: string): StoredAlert | null {
    return this.#alerts().find((alert) => alert.name === name) ?? null;
  }
  #deliveryOf(id: string): Result<DeliveryFacts> {
    const delivery = this.#store.delivery(id);
    return delivery === null ? fail("not_found", "There is no such message.") : ok(factsOf(delivery));
  }

  #factsOf({ name, id, definition, origin, created_at, created_by, updated_at, disabled }: StoredAlert): AlertFacts {
    const [last = null] = this.#store.deliveries(id, 1);
    return { name, id, definition, origin, created_at, created_by, updated_at, disabled, waiting: this.#store.waiting(id), last };
  }
}

/** Why these cannot be taken; null when they can. */
function tellingProblem(occurrences: readonly Occurrence[]): string | null {
  if (occurrences.length > MOST_TOLD) return `At most ${MOST_TOLD} occurrences are told at a time.`;
  for (const occurrence of occurrences) {
    const [issue] = occurrenceSchema.safeParse(occurrence).error?.issues ?? [];
    if (issue !== undefined) return `The occurrence ${String(occurrence.id).slice(0, 80)}: ${issue.path.join(".")}: ${issue.message}`;
  }
  return null;
}
