import { describe, expect, it } from "vitest";
import { notedJudges } from "../../../src/executor/endpoints/noted-judges.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { MAX_JUDGEMENT_CHARACTERS, MAX_JUDGEMENTS_CHARACTERS } from "../../../src/limits.ts";
import { keepState, openKeptState } from "../../../src/rollouts/kept/kept-state.ts";
import { rescoredLine } from "../../../src/rollouts/rows/rescored-row.ts";
import { MAX_RESULT_ROW_BYTES, rowOf } from "../../../src/rollouts/rows/row.ts";
import { NO_JUDGES } from "../../../src/rollouts/state/judge-usage.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import type { Message, State } from "../../../src/rollouts/types.ts";
import { response, scripted } from "../../support/walled/units.ts";

const INPUT = { example_id: 0, prompt: [], task: "t" };
function finished(fields: Partial<State> = {}): State {
  const state = createState(INPUT, { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 });
  return Object.assign(state, { completion: [], is_completed: true, stop_condition: "done", reward: 1, metrics: {} }, fields);
}
const rowIn = (state: State, stateColumns: string[] = ["judge_response"]): JsonObject =>
  JSON.parse(rowOf(state, { rolloutIndex: 0, stateColumns }).line) as JsonObject;

/** Asks a judge that says `said` about the state, as an environment's own code does. */
async function ask(state: Readonly<Record<string, unknown>>, prompt: string | Message[], said = "yes", columns = ["judge_response"]): Promise<void> {
  const judge = notedJudges(
    { state_columns: columns },
    scripted(() => response(said)),
  );
  const messages: Message[] = typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
  await judge.getResponse({ prompt: messages, model: "judge", sampling_args: {}, tools: [], state, signal: null } as never);
}

describe("what a judge is asked by an environment's own code", () => {
  it("stands in the row by the whole prompt, with all answers where the same is asked again, if the run asks for the column", async () => {
    const state = finished();
    await ask(state, "Is it right?");
    await ask(state, "Vote.", "yes");
    await ask(state, "Vote.", "no");
    await ask({ ...state }, [
      { role: "system", content: "Be strict." },
      { role: "user", content: [{ type: "text", text: "Fair?" }] },
    ]);
    expect(rowIn(state).judge_response).toEqual({ "Is it right?": "yes", "Vote.": ["yes", "no"], "system: Be strict.\n\nuser: Fair?": "yes" });
    expect(rowIn(state, [])).not.toHaveProperty("judge_response");
    const other = finished();
    await ask(other, "Is it right?", "yes", ["board"]);
    expect(rowIn(other)).toMatchObject({ judge_response: null });
  });

  it("is nobody's where the request names no rollout", async () => {
    const state = finished();
    await ask({}, "Is it right?");
    expect(rowIn(state).judge_response).toBeNull();
  });

  it("stands beside what the environment keeps there itself, which stays unless it is a text under the same prompt", async () => {
    const state = finished({ judge_response: { "Own?": { verdict: 1 }, "Same?": "y", "Other?": "z" } });
    await ask(state, "Own?", "said");
    await ask(state, "Same?", "said");
    expect(rowIn(state).judge_response).toEqual({ "Own?": { verdict: 1 }, "Same?": "said", "Other?": "z" });
    const listed = finished({ judge_response: ["of its own"] });
    await ask(listed, "Own?");
    expect(rowIn(listed).judge_response).toEqual(["of its own"]);
  });

  it("is cut where a text is too long, and left out where it is too much for one rollout", async () => {
    const state = finished();
    await ask(state, "p".repeat(MAX_JUDGEMENT_CHARACTERS), "s".repeat(MAX_JUDGEMENT_CHARACTERS + 5));
    const long = "s".repeat(MAX_JUDGEMENT_CHARACTERS);
    expect(rowIn(state).judge_response).toEqual({ ["p".repeat(MAX_JUDGEMENT_CHARACTERS)]: `${long}… (5 characters more)` });
    for (let at = 0; at < 10; at++) await ask(state, String(at).repeat(MAX_JUDGEMENT_CHARACTERS), "x");
    const kept = rowIn(state).judge_response as Readonly<Record<string, string>>;
    expect(Object.keys(kept)).toHaveLength(2);
    expect(JSON.stringify(kept).length).toBeLessThan(MAX_JUDGEMENTS_CHARACTERS + 100);
    await ask(state, "short", "enough");
    expect(rowIn(state).judge_response).toHaveProperty("short");
  });

  it("makes no row too large: it is left out before anything else is", async () => {
    const state = finished({ completion: [{ role: "assistant", content: "a".repeat(MAX_RESULT_ROW_BYTES - 2_000) }] });
    await ask(state, "p".repeat(3_000));
    expect(rowIn(state)).toMatchObject({ error: null, judge_response: null, completion: [{ role: "assistant" }] });
  });

  it("is there again where the rollout was kept and is opened, and its row gets it where it is scored again", async () => {
    const state = finished();
    await ask(state, "Vote.", "yes");
    await ask(state, "Vote.", "no");
    const kept = keepState(state, { input: INPUT, tools: [] });
    const opened = kept.ok ? openKeptState(kept.text, { input: INPUT, tools: [] }, null).state : finished();
    expect(rowIn(opened).judge_response).toEqual({ "Vote.": ["yes", "no"] });
    const line = '{"example_id":0,"reward":0,"error":null,"metrics":{},"rollout_index":0}';
    const again = Object.assign(finished(), { judge_response: { "New?": "yes" } });
    const scored = rescoredLine(line, JSON.parse(line) as JsonObject, again, {
      ...{ stateColumns: ["judge_response"], judges: NO_JUDGES, scoring: null, keepsError: false },
    });
    expect(JSON.parse(scored)).toMatchObject({ judge_response: { "New?": "yes" } });
  });
});
