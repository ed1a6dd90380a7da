import { type Result, ok } from "../../src/errors/result.ts";
import { admit, storageRefusal, type TokenUse } from "../../src/teams/admission.ts";
import { limitsOfTeam, type TeamLimitName } from "../../src/teams/limits.ts";
import { DEFAULT_TEAM, type TeamOf } from "../../src/teams/team-name.ts";
import { LimitStore } from "./limit-store.ts";
import type { LimitChanges, LimitFacts, ResumeAdmission, UploadAdmission } from "./registry-control.ts";
import { UseStore } from "./use-store.ts";

/** Runs that are to begin. */
interface Beginning extends TeamOf {
  /** `max_concurrent` of each. */
  readonly rollouts: readonly number[];
  readonly token: TokenUse | null;
  readonly now: number;
  /** The run that begins again. */
  readonly again?: string;
}

/** What a team may use, and what it does: asked and changed within the transaction of whoever does something about it. */
export class TeamBudget {
  readonly use: UseStore;
  readonly #limits: LimitStore;
  readonly #storage: DurableObjectStorage;
  readonly #local: boolean;

  /** `local`: on this machine, where nothing is limited unless somebody says so. */
  constructor(storage: DurableObjectStorage, local: boolean) {
    this.#storage = storage;
    this.#local = local;
    this.use = new UseStore(storage);
    this.#limits = new LimitStore(storage);
  }

  make(): void {
    this.use.make();
    this.#limits.make();
  }

  limitsOf({ team = DEFAULT_TEAM }: TeamOf): Readonly<Record<TeamLimitName, number | null>> {
    return limitsOfTeam(this.#limits.all(), { local: this.#local, team });
  }

  /** `max_concurrent` of each run that is let begin. */
  admit({ team = DEFAULT_TEAM, rollouts, token, now, again = "" }: Beginning): Result<readonly number[]> {
    const limits = this.limitsOf({ team });
    const stored = limits.stored_bytes === null ? null : storageRefusal(team, limits.stored_bytes, this.use.storedBytes(), 0);
    if (stored !== null) return { ok: false, error: stored };
    const unlimited = { runs: 0, rollouts: 0 };
    const limited = limits.runs !== null || limits.rollouts !== null;
    const bound = token !== null && ((token.limits.runs ?? null) !== null || (token.limits.rollouts ?? null) !== null);
    return admit({
      wanted: rollouts,
      team,
      limits,
      use: limited ? this.use.atOnce(now, null, again) : unlimited,
      token: bound ? { ...token, use: this.use.atOnce(now, token.id, again) } : null,
    });
  }

  /** One that counts already may have less, or as many as it has, whatever the limits say: then it stays whose it is. Who asks for more has no less after that. */
  admitResume({ run_id, rollouts, token, now, ...team }: ResumeAdmission): Result<number> {
    return this.#storage.transactionSync(() => {
      const admitted = this.admit({ ...team, rollouts: [rollouts], token, now, again: run_id });
      const [left = rollouts] = admitted.ok ? admitted.value : [0];
      const held = left === rollouts ? null : this.use.held(run_id, now);
      if (held !== null && rollouts > 0 && (held.rollouts <= 0 || rollouts <= held.rollouts)) {
        this.use.beginAgain(run_id, rollouts, held.token, now);
        return ok(rollouts);
      }
      if (!admitted.ok) return admitted;
      const granted = Math.max(left, held?.rollouts ?? 0);
      this.use.beginAgain(run_id, granted, token?.id ?? null, now);
      return ok(granted);
    });
  }

  /** Counts the upload before it is stored, so that many at once are counted too. */
  admitUpload({ digest, bytes, now, team = DEFAULT_TEAM }: UploadAdmission): Result<null> {
    return this.#storage.transactionSync(() => {
      const { stored_bytes } = this.limitsOf({ team });
      const refusal = this.use.uploadBytes(digest) === null ? storageRefusal(team, stored_bytes, this.use.storedBytes(), bytes) : null;
      if (refusal !== null) return { ok: false, error: refusal };
      this.use.noteUpload(digest, bytes, now);
      return ok(null);
    });
  }

  facts(team: TeamOf, now: number): LimitFacts {
    return { set: this.#limits.all(), limits: this.limitsOf(team), used: { ...this.use.atOnce(now, null), stored_bytes: this.use.storedBytes() } };
  }

  set(changes: LimitChanges): void {
    this.#limits.set(changes);
  }
}
