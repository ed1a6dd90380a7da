import { describe, expect, it } from "vitest";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { repairGroup } from "../../../src/environments/unit/repair-group.ts";
import { rescore } from "../../../src/environments/unit/rescore.ts";
import type { UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import type { Message } from "../../../src/rollouts/types.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { both, dataset, lines, right, run, textOf } from "../../support/walled/both.ts";
import { listening } from "../../support/walled/listening.ts";
import { EXAMPLE, response, scripted, timelessLine, unitOptions } from "../../support/walled/units.ts";

describe("rows behind a wall", () => {
  const rubric = () =>
    new Rubric([
      right,
      groupReward(function longest({ completions }) {
        const lengths = completions.map((completion) => textOf(completion as Message[]).length);
        return lengths.map((length) => length === Math.max(...lengths));
      }),
    ]);
  const load = () => new SingleTurnEnv({ dataset, rubric: rubric() });

  it("of a group are scored anew with the rollouts that are drawn again", async () => {
    const outcomes: UnitOutcome[] = [];
    for (const hosted of await both(load)) {
      const first = await run(
        hosted,
        scripted((_, call) => (call === 1 ? new EdgewiseError("provider_error", "500") : response("4".repeat(call + 1)))),
        3,
        {},
      );
      const kept = [0, 2].map((index) => ({ index, line: first.lines[index] as string, summary: first.summaries[index] as UnitOutcome["summaries"][number] }));
      outcomes.push(
        await repairGroup(
          hosted,
          EXAMPLE,
          unitOptions(
            scripted(() => response("44444")),
            3,
            { kept, scoredAnew: true },
          ),
        ),
      );
    }
    expect(lines(outcomes[1] as UnitOutcome)).toEqual(lines(outcomes[0] as UnitOutcome));
    expect(outcomes[1]?.summaries.map(({ reward }) => reward)).toEqual([1, 1, 0]);
  });

  it("of a group that lack what a function asks for are drawn again with it", async () => {
    const asking = () =>
      new Rubric([
        groupReward(function steps({ states }) {
          return states.map(({ trajectory }) => trajectory[0]?.completion.length ?? 0);
        }),
      ]);
    const outcomes: UnitOutcome[] = [];
    for (const hosted of await both(() => new SingleTurnEnv({ dataset, rubric: asking() }))) {
      const first = await run(
        hosted,
        scripted((_, call) => (call === 1 ? new EdgewiseError("provider_error", "500") : response("4"))),
        3,
        {},
      );
      const kept = [0, 2].map((index) => ({ index, line: first.lines[index] as string, summary: first.summaries[index] as UnitOutcome["summaries"][number] }));
      const client = scripted(() => response("5"));
      outcomes.push(await repairGroup(hosted, EXAMPLE, unitOptions(client, 3, { kept })));
      expect(client.requests).toHaveLength(3);
    }
    expect(lines(outcomes[1] as UnitOutcome)).toEqual(lines(outcomes[0] as UnitOutcome));
  });

  it("are scored again by another rubric, but for what they lack", async () => {
    const first = await run(
      (await both(load))[0],
      scripted(() => response("4")),
      2,
      {},
    );
    const rows = first.lines.map((line, index) => ({ index, line, summary: first.summaries[index] as UnitOutcome["summaries"][number] }));
    const options = {
      ...unitOptions(
        scripted(() => response("")),
        2,
      ),
      client: null,
      rowOnly: false,
    };
    const again: string[][] = [];
    for (const hosted of await both(
      () => new SingleTurnEnv({ dataset, rubric: new Rubric([{ name: "other", fn: ({ completion }) => textOf(completion as Message[]).length / 2 }]) }),
    )) {
      const scored = await rescore(hosted, EXAMPLE, rows, options);
      expect(scored).toMatchObject({ lacks: [], aborted: false, changed: true });
      again.push(scored.rows.map(({ line }) => timelessLine(line)));
    }
    expect(again[1]).toEqual(again[0]);
    for (const hosted of await both(() => new SingleTurnEnv({ dataset, rubric: new Rubric([{ name: "other", fn: ({ state }) => Number(state.board) }]) })))
      expect(await rescore(hosted, EXAMPLE, rows, options)).toMatchObject({ rows: [], lacks: ["board"] });
  });
});

describe("a span behind a wall", () => {
  it("is played and scored in part, and never together", async () => {
    for (const scores of [true, false])
      for (const hosted of await both(() => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) }))) {
        const told = listening();
        const client = scripted(() => response("4"));
        const { states } = await hosted.play(EXAMPLE, [3, 4], { ...unitOptions(client, 2, told.options), part: { scores } });
        expect(states?.map(({ reward, completion }) => [reward, textOf(completion ?? [])])).toEqual(
          scores
            ? [
                [1, "4"],
                [1, "4"],
              ]
            : [
                [null, "4"],
                [null, "4"],
              ],
        );
        expect(told.events.some((event) => event.startsWith("scor"))).toBe(scores);
      }
  });
});
