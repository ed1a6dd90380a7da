import { hasCodeOf } from "../../src/executor/grant-code.ts";
import { type Grant, PROTOCOL, type TicketId } from "../../durable-objects/run/protocol.ts";
import type { Calls } from "./world/calls.ts";
import type { Invocation } from "./nodes/invocation.ts";
import type { Code, Scene } from "./world/scene.ts";

/** What looks for work, as the search sees it. */
interface Seeker {
  readonly id: string;
  readonly code: Code;
  readonly invocation: Invocation;
  readonly calls: Calls;
  /** By the executor's clock. Milliseconds. */
  now(): number;
  /** It lives, and has no session. */
  isIdle(): boolean;
  moveTo(world: Scene): void;
  /** `mark`: what rows are to carry of the code. */
  begin(grant: Grant, sentAt: number, mark: string | undefined): void;
  giveUp(): void;
}

export const ticketOf = ({ ticket, epoch }: Grant): TicketId => ({ protocol: PROTOCOL, ticket, epoch });

/** How an executor comes to its grants, as executor.ts does it: asks the Dispatcher for runs, joins them, and compares the code. */
export class WorkSearch {
  #world: Scene;
  readonly #seeker: Seeker;
  #refused: { run: string; seq: number }[] = [];
  #empty = 0;
  #joins = 1;

  constructor(world: Scene, seeker: Seeker) {
    this.#world = world;
    this.#seeker = seeker;
  }

  /** Looks for work; gives up when there is none for a while. */
  ask(): void {
    const seeker = this.#seeker;
    const { id, code, invocation, calls } = seeker;
    if (!seeker.isIdle()) return;
    if (this.#empty >= 3 || invocation.isOver(seeker.now())) return seeker.giveUp();
    const passes = invocation.passes(seeker.now());
    const { runs } = this.#world.dispatcher.next({ executor: id, free: this.#world.plan.capacity, serving: [], passes, refused: this.#refused });
    this.#refused = [];
    const found = runs[0];
    if (found === undefined) return this.#later();
    const world = this.#world.of(found.run);
    this.#world = world;
    seeker.moveTo(world);
    const sentAt = seeker.now();
    const asking = { protocol: PROTOCOL, executor: id, seq: this.#joins, free: world.plan.capacity, checks_code: code.checks, merges: true } as const;
    const scores = code.checks ? ({ scores_only: true, steers: true } as const) : {};
    calls.make("join", { ...asking, ...scores, boot: world.boot, runtime: world.runtime }, (answer) => {
      if (answer !== null) this.#joins++;
      if (answer?.kind === "grant") return this.#compare(answer, sentAt, { run: found.run, seq: found.seq });
      if (answer !== null) this.#refused.push({ run: found.run, seq: found.seq });
      this.#later();
    });
  }

  /** Digest of the code that the executor has. */
  get digest(): string {
    return this.#world.codes[this.#seeker.code.version] ?? "";
  }

  #later(): void {
    this.#empty++;
    this.#world.clock.after(200, () => this.ask());
  }

  /** Who has other code than the grant names says so, and works only when told to. */
  #compare(grant: Grant, sentAt: number, offer: { readonly run: string; readonly seq: number }): void {
    const { checks } = this.#seeker.code;
    const mark = checks && grant.marked === true ? this.digest : undefined;
    if (!checks || grant.env_digest === undefined || hasCodeOf(grant, this.digest)) return this.#begin(grant, sentAt, mark);
    this.#seeker.calls.make("otherCode", { ...ticketOf(grant), env_digest: this.digest }, (answer) => {
      if (answer?.kind === "ok") return this.#begin(grant, sentAt, this.digest);
      if (answer !== null) this.#refused.push(offer);
      this.#later();
    });
  }

  #begin(grant: Grant, sentAt: number, mark: string | undefined): void {
    this.#empty = 0;
    this.#seeker.begin(grant, sentAt, mark);
  }
}
