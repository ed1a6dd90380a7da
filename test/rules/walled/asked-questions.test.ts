import { describe, expect, it } from "vitest";
import { MultiTurnEnv } from "../../../src/environments/kinds/multi-turn-env.ts";
import { type KeptTurn, openKeptState, StateSnapshot } from "../../../src/rollouts/kept/kept-state.ts";
import { RolloutLeft } from "../../../src/rollouts/kept/left.ts";
import { askedTime } from "../../../src/rollouts/state/asked-questions.ts";
import type { Client, Message, State } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { both, dataset, lines, right, run } from "../../support/walled/both.ts";
import { EXAMPLE, response, type Scripted, scripted } from "../../support/walled/units.ts";

/** Four turns, in which the model is asked the same each time. */
class Repeating extends MultiTurnEnv {
  constructor() {
    super({ dataset, rubric: new Rubric([right]), maxTurns: 4 });
  }
  override envResponse(): Message[] {
    return [{ role: "user", content: "again" }];
  }
}

/** `client`, with which attempt each of its calls is at one question. */
function numbered(client: Scripted): { readonly client: Client; readonly attempts: string[] } {
  const attempts: string[] = [];
  const getResponse: Client["getResponse"] = (request) => {
    const asked = askedTime(request.state, "q");
    attempts.push(asked === null ? "nobody's" : `${asked.rollout} ${asked.time}`);
    return client.getResponse(request);
  };
  return { client: { ...client, getResponse }, attempts };
}

describe("attempts at an answer, inside and behind a wall", () => {
  it("are each rollout's own, counted from 0", async () => {
    for (const hosted of await both(() => new Repeating())) {
      const { client, attempts } = numbered(scripted(() => response("5")));
      await run(hosted, client as Scripted, 2, {});
      expect([...attempts].sort()).toEqual(["0 0", "0 1", "0 2", "0 3", "1 0", "1 1", "1 2", "1 3"]);
    }
  });

  it("are numbered on where a rollout is gone on with, on either side: never with a number that an answer has", async () => {
    const [inside, behind] = await both(() => new Repeating());
    for (const first of [inside, behind]) {
      const base = { input: EXAMPLE, tools: [] };
      const kept: string[] = [];
      const onTurn = (_index: number, state: State, turn: KeptTurn): "kept" => {
        const text = new StateSnapshot(state, base, turn).text();
        if (text.ok && state.trajectory.length === 2) kept.push(text.text);
        return "kept";
      };
      const end = new AbortController();
      const { client } = numbered(scripted(({ prompt }) => (prompt.length > 4 ? new Promise<never>(() => undefined) : response("5"))));
      const stopped = run(first, client as Scripted, 1, { onTurn, signal: end.signal });
      await expect.poll(() => kept.length, { timeout: 5_000 }).toBeGreaterThan(0);
      end.abort(new RolloutLeft());
      expect(await stopped).toMatchObject({ aborted: true, lines: [] });
      for (const again of await both(() => new Repeating())) {
        const rest = numbered(scripted(() => response("5")));
        const begun = new Map([[0, openKeptState(kept.at(-1) ?? "", base, rest.client)]]);
        expect(lines(await run(again, rest.client as Scripted, 1, { begun }))).toHaveLength(1);
        // Behind a wall the call that was under way may have its number already.
        const from = rest.attempts[0] === "0 3" && first === behind ? 3 : 2;
        expect(rest.attempts).toEqual([`0 ${from}`, `0 ${from + 1}`]);
      }
    }
  });
});
