import { Isolate } from "../../../src/executor/session/isolate.ts";
import type { Scene } from "../world/scene.ts";

/** An executor of an isolate. */
interface Member {
  /** Units begun and not committed. */
  readonly open: ReadonlySet<number>;
  /** Of others some rollouts were. */
  readonly spanned: ReadonlySet<number>;
  crash(): void;
}

/** What executors share that run in one isolate: it ends for all of them at once, whoever's unit was the reason. */
export class IsolateNode {
  readonly seats: Isolate;
  readonly #members = new Set<Member>();
  /** Units that were open when it began to die; null while it lives. */
  #lost: number | null = null;

  constructor(now: () => number, patience: number) {
    this.seats = new Isolate(now, patience);
  }

  enter(member: Member): void {
    this.#members.add(member);
  }

  leave(member: Member): void {
    this.#members.delete(member);
  }

  get #open(): number {
    return [...this.#members].reduce((sum, { open }) => sum + open.size, 0);
  }

  /** What an outside observer may hold against units of `world` if their executor says nothing more: any of what was open beside them may have been the reason. */
  fallsSilent(world: Scene, { open, spanned }: Pick<Member, "open" | "spanned">): void {
    const alone = (this.#lost ?? this.#open) === 1;
    for (const unit of open) world.silences.push({ unit, alone });
    for (const unit of spanned) if (!open.has(unit)) world.silences.push({ unit, alone: false });
  }

  dies(): void {
    this.#lost = this.#open;
    for (const member of [...this.#members]) member.crash();
    this.#lost = null;
  }
}
