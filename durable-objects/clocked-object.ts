import { DurableObject } from "cloudflare:workers";
import { type Env, keepsSchedules } from "../src/env.ts";
import { EdgewiseError, type Result } from "../src/errors/result.ts";
import { attempt, type Debtor, tryAgain } from "./owed-work.ts";

/** `version` counts changes of what lists show, `projected` is the last of them that the Registry has. */
interface Head {
  readonly version: number;
  readonly projected: number;
}

interface HeadStore<Of extends Head> {
  /** Null where nothing is stored. Fails for what another version has stored. */
  head(): Result<Of | null>;
  projected(version: number): void;
}

/**
 * One thing that is stored, and whose alarm is its clock: a schedule, a monitor, an evaluator. Where nobody keeps such things nothing is due; whoever does finds it
 * overdue. What only the object itself may call is a property, since a method is there for everybody who has its stub.
 */
export abstract class ClockedObject<Of extends Head> extends DurableObject<Env> {
  /** What it is called in the log, before its name. */
  protected abstract readonly kind: string;
  protected abstract readonly store: HeadStore<Of>;
  /** What it does when its time has come. */
  protected abstract readonly look: () => Promise<unknown>;

  /** False where there is none. */
  async poke(): Promise<boolean> {
    const head = this.store.head();
    if (head.ok && head.value === null) return false;
    if (keepsSchedules(this.env)) await this.look();
    return true;
  }

  override async alarm(): Promise<void> {
    if (keepsSchedules(this.env)) await this.look();
  }

  /** Whether there was one. */
  protected readonly removeAll = async (): Promise<boolean> => {
    const head = this.store.head();
    if (head.ok && head.value === null) return false;
    // The alarm with it.
    await this.ctx.storage.deleteAll();
    return true;
  };

  /** Throws for what another version has stored. */
  protected readonly known = (): Of | null => {
    const head = this.store.head();
    if (head.ok) return head.value;
    const { code, message, hint } = head.error;
    throw new EdgewiseError(code, message, hint === undefined ? {} : { hint });
  };

  /** Tells the Registry what it does not have yet. */
  protected readonly project = async (tell: (head: Of) => Promise<unknown>): Promise<void> => {
    const head = this.store.head();
    if (!head.ok || head.value === null || head.value.projected >= head.value.version) return;
    await tell(head.value);
    this.store.projected(head.value.version);
  };

  protected readonly attempt = (what: string, work: () => Promise<void>): Promise<void> => attempt(this.#debtor, what, work);
  protected readonly tryAgain = (what: string, thrown: unknown): Promise<void> => tryAgain(this.#debtor, what, thrown);

  get #debtor(): Debtor {
    return { name: `${this.kind} ${this.ctx.id.name ?? ""}`, storage: this.ctx.storage, wakes: keepsSchedules(this.env) };
  }
}
