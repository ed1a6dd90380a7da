import { segmentKey } from "../../../r2-layout/keys.ts";
import { linesAt } from "../../../r2-layout/segment.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { SavedRows } from "../../../src/executor/units/saved-rows.ts";
import type { State } from "../../../src/rollouts/types.ts";
import type { Rubric } from "../../../src/rubrics/rubric.ts";
import { unboundedBytes } from "./unbounded-bytes.ts";
import type { RuleRun } from "./rule-run.ts";
import { type TicketOptions, ticketOnRuleRun } from "./rule-ticket.ts";

export const NEVER = new Promise<never>(() => undefined);

/** How long an answer is, as a reward. */
export const length = ({ completion }: { completion: readonly { content?: unknown }[] }): number => String(completion[0]?.content ?? "").length;

export const env = (rubric: Rubric, changes: { afterwards?: (state: State) => void } = {}) =>
  new (class extends SingleTurnEnv {
    override async rollout(...[state, context]: Parameters<SingleTurnEnv["rollout"]>): Promise<State> {
      const played = await super.rollout(state, context);
      changes.afterwards?.(played);
      return played;
    }
  })({ dataset: async function* () {}, rubric });

/** Executors one after another before the same run; answers are numbered in the order in which they were asked for. */
export class Line {
  readonly objects = new Map<string, Uint8Array>();
  readonly notes: string[] = [];
  readonly saved = new SavedRows(unboundedBytes());
  run: RuleRun | undefined;
  calls = 0;
  readonly #options: Pick<TicketOptions, "units" | "lanes" | "rollouts" | "config" | "environment" | "hosted">;

  constructor(options: Pick<TicketOptions, "units" | "lanes" | "rollouts" | "config" | "environment" | "hosted">) {
    this.#options = options;
  }

  /** `answered`: calls that are answered; the others never are. */
  next(answered: number, changes: Partial<TicketOptions> = {}) {
    const { run } = this;
    const begun = ticketOnRuleRun({
      ...this.#options,
      ...(run === undefined ? {} : { run }),
      objects: this.objects,
      saved: this.saved,
      onNote: (message) => void this.notes.push(message),
      answer: async () => {
        const call = ++this.calls;
        if (call > answered) return NEVER;
        await sleep(10);
        return "x".repeat(call);
      },
      ...changes,
    });
    this.run = begun.run;
    const over = begun.ticket.run();
    return { ...begun, over };
  }

  rows(): { example_id: number; rollout_index: number; reward: number; scored_anew?: boolean; completion: { content: string }[] }[] {
    const { run } = this;
    if (run === undefined) return [];
    return [...run.ledger.doneFrom(0)].flatMap((done) => {
      const lines = linesAt(this.objects.get(segmentKey(run.ledger.config().run_id, done.segment)) ?? new Uint8Array(), done);
      return lines.ok ? lines.value.map((line) => JSON.parse(line)) : [];
    });
  }
}

/** By unit: the rollouts that the run knows as kept, and those that it knows where they stand. */
export const kept = ({ run }: Line) => (run?.ledger.piecesIn({ lo: 0, hi: 100 }) ?? []).map(({ unit, rollouts }) => [unit, ...rollouts]);
export const begun = ({ run }: Line) => (run?.ledger.piecesIn({ lo: 0, hi: 100 }) ?? []).map(({ unit, begun: own = [] }) => [unit, ...own]);
