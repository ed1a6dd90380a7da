import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { MultiTurnEnv } from "../../../src/environments/kinds/multi-turn-env.ts";
import type { UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import type { Message, ModelRequest, State } from "../../../src/rollouts/types.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { both, dataset, lines, run } from "../../support/walled/both.ts";
import { response, scripted } from "../../support/walled/units.ts";

/** What an environment of this test does, in all its turns. */
interface Script {
  readonly turns: number;
  readonly rollouts: number;
  readonly group: boolean;
  readonly independent: boolean;
  /** Kept in the state under this key, and asked for as a column. */
  readonly key: string;
  readonly value: unknown;
  readonly changesExample: unknown;
  readonly throwsAt: number | null;
  readonly refusedAt: number | null;
  readonly score: number;
  readonly retries: number;
  readonly says: string;
}

const CODES = ["bad_request", "provider_error", "invalid_response", "rate_limited"] as const;

class Scripted extends MultiTurnEnv {
  readonly #script: Script;

  constructor(script: Script) {
    const one = { name: "one", fn: ({ state }: { readonly state: State }) => script.score / (state.trajectory.length + 1) };
    const group = groupReward(function place({ states }) {
      return states.map((_, at) => at / 8);
    });
    super({ dataset, maxTurns: script.turns, rubric: new Rubric(script.group ? [one, group] : [one]) });
    this.#script = script;
  }

  override async setupState(state: State): Promise<void> {
    Object.defineProperty(state, this.#script.key, { value: this.#script.value, enumerable: true, writable: true, configurable: true });
    if (this.#script.changesExample !== undefined) state.input.more = this.#script.changesExample;
  }

  override envResponse(messages: readonly Message[], state: State): Message[] {
    if (state.trajectory.length === this.#script.throwsAt) throw new RangeError(`at ${messages.length}`);
    return [{ role: "user", content: this.#script.says }];
  }
}

const script = fc.record<Script>({
  turns: fc.integer({ min: 1, max: 4 }),
  rollouts: fc.integer({ min: 1, max: 4 }),
  group: fc.boolean(),
  independent: fc.boolean(),
  key: fc.oneof(
    fc.string({ minLength: 1, maxLength: 6 }).filter((key) => !(key in Object.prototype)),
    fc.constantFrom("note", "__proto__", "7", "client2"),
  ),
  value: fc.oneof(fc.jsonValue(), fc.anything({ maxDepth: 2, withBigInt: true, withDate: true, withMap: true })),
  changesExample: fc.option(fc.jsonValue(), { nil: undefined }),
  throwsAt: fc.option(fc.integer({ min: 1, max: 4 })),
  refusedAt: fc.option(fc.integer({ min: 0, max: 6 })),
  score: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  retries: fc.integer({ min: 0, max: 1 }),
  says: fc.string({ unit: "binary", maxLength: 20 }),
});

/** Says something of the conversation, and refuses by how long it is, so that the order of calls makes no difference. */
const client = ({ refusedAt, says }: Script) =>
  scripted(({ prompt }: ModelRequest) =>
    refusedAt !== null && prompt.length > refusedAt
      ? new EdgewiseError(CODES[refusedAt % CODES.length] ?? "bad_request", says)
      : response(`${says}${prompt.length}`, {}, prompt.length),
  );

describe("any environment behind a wall", () => {
  it("has the same rows as inside", async () => {
    await fc.assert(
      fc.asyncProperty(script, async (of) => {
        const outcomes: UnitOutcome[] = [];
        for (const hosted of await both((): Environment => new Scripted(of), { sleep: async () => undefined })) {
          const independent = of.independent && !of.group;
          outcomes.push(
            await run(hosted, client(of), of.rollouts, {
              independent,
              maxRetries: of.retries,
              stateColumns: [of.key, "advantage"],
              sleep: async () => undefined,
            }),
          );
          await hosted.teardown();
        }
        const [inside, behind] = outcomes as [UnitOutcome, UnitOutcome];
        expect(lines(behind)).toEqual(lines(inside));
        expect(behind.summaries).toEqual(inside.summaries);
      }),
      { numRuns: 150 },
    );
  });
});
