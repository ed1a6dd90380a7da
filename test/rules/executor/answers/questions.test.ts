import { describe, expect, it } from "vitest";
import type { Question } from "../../../../src/clients/known-answers.ts";
import { type AskedPlace, questionDigest, questionName } from "../../../../src/executor/answers/question.ts";
import { askedTime, askedTimesOf, keepAskedTimes, nameRollout } from "../../../../src/rollouts/state/asked-questions.ts";

const PLACE: AskedPlace = { team: undefined, role: "model", base_url: "https://api.example/v1", client_type: "openai_chat_completions", headers: {} };
const QUESTION: Question = {
  route: null,
  model: "m",
  body: { model: "m", messages: [{ role: "user", content: "hello" }], max_tokens: 5, temperature: 0 },
  state: { example_id: 1, task: "t" },
};
const name = (place: Partial<AskedPlace> = {}, question: Partial<Question> = {}): Promise<string> =>
  questionName({ ...PLACE, ...place }, { ...QUESTION, ...question });
const body = (changes: object): Partial<Question> => ({ body: { ...QUESTION.body, ...changes } as Question["body"] });

describe("a question", () => {
  it("has the name that it had: what is kept is found by the next version, unless that means it to be another", async () => {
    expect(await name()).toBe("9a1be0f72198a87da3edb8ade0c3e04b8571c7cea819ddb14d6ccf85e253a42b");
    expect(await questionDigest(await name(), 3, 1)).toBe("efe1985bd2e4e07f74f256d30542b79b0bedb5282432a9f4aa0d469e06564e42");
  });

  it.each<[string, Partial<AskedPlace>, Partial<Question>]>([
    ["another order of its fields", {}, { body: { temperature: 0, max_tokens: 5, messages: [{ content: "hello", role: "user" }], model: "m" } }],
    ["an answer in pieces", {}, body({ stream: true, stream_options: { include_usage: true } })],
    [
      "the limit of tokens under its other name",
      {},
      { body: { model: "m", messages: [{ role: "user", content: "hello" }], max_completion_tokens: 5, temperature: 0 } },
    ],
    ["another rollout's state", {}, { state: { example_id: 2, task: "u" } }],
    ["the address as others write it", { base_url: "https://API.example:443/v1/" }, {}],
    ["the default team by its name", { team: "default" }, {}],
  ])("is the same with %s", async (_, place, question) => {
    expect(await name(place, question)).toBe(await name());
  });

  it.each<[string, Partial<AskedPlace>, Partial<Question>]>([
    ["team", { team: "acme" }, {}],
    ["role", { role: "judges" }, {}],
    ["place", { base_url: "https://api.example/v2" }, {}],
    ["client", { client_type: "openai_completions" }, {}],
    ["header", { headers: { "x-variant": "b" } }, {}],
    ["header of the state", { headers_from_state: { "X-Task": "task" } }, {}],
    ["model", {}, { model: "n" }],
    ["route", {}, { route: "chat/completions" }],
    ["message", {}, body({ messages: [{ role: "user", content: "hello " }] })],
    ["argument", {}, body({ temperature: 0.1 })],
    ["field that is anybody's", {}, body({ user: "ada" })],
    ["tokens of the turns before", {}, { beside: [[1, 2]] }],
  ])("is another with another %s", async (_, place, question) => {
    expect(await name(place, question)).not.toBe(await name());
  });

  it("is answered in pieces or whole to whoever makes his request himself", async () => {
    const relayed = { route: "chat/completions" as const };
    expect(await name({}, { ...relayed, ...body({ stream: true }) })).not.toBe(await name({}, relayed));
  });

  it("has an answer for each attempt", async () => {
    const all = await Promise.all([0, 1, 2].flatMap((rollout) => [0, 1].map((time) => questionDigest("n", rollout, time))));
    expect(new Set(all).size).toBe(6);
  });
});

describe("attempts", () => {
  const stateOf = (rollout: number) => {
    const state = { trajectory: [] };
    nameRollout(state, rollout);
    return state;
  };

  it("are counted by rollout and question, through copies of the state", () => {
    const state = stateOf(2);
    expect(askedTime(state, "a")).toMatchObject({ rollout: 2, time: 0 });
    expect(askedTime({ ...state }, "a")).toMatchObject({ rollout: 2, time: 1 });
    expect(askedTime(state, "b")).toMatchObject({ rollout: 2, time: 0 });
    expect(askedTime(stateOf(2), "a")).toMatchObject({ time: 0 });
  });

  it("are none that had no answer", () => {
    const state = stateOf(0);
    askedTime(state, "a")?.failed();
    expect(askedTime(state, "a")).toMatchObject({ time: 0 });
    const second = askedTime(state, "a");
    askedTime(state, "a");
    // Another was made meanwhile, and has its number.
    second?.failed();
    expect(askedTime(state, "a")).toMatchObject({ time: 3 });
  });

  it("go on where a rollout is opened again", () => {
    const state = stateOf(1);
    askedTime(state, "a");
    const opened = { trajectory: [] };
    keepAskedTimes(opened, askedTimesOf(state) ?? {});
    nameRollout(opened, 1);
    expect(askedTime(opened, "a")).toMatchObject({ rollout: 1, time: 1 });
  });

  it("are nobody's where no rollout is named", () => {
    expect([askedTime({}, "a"), askedTime({ trajectory: [] }, "a"), askedTimesOf({ trajectory: [] })]).toEqual([null, null, null]);
  });
});
