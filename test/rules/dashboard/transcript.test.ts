import { describe, expect, it } from "vitest";
import { messageOutline } from "../../../src/cells/outline.ts";
import { messagesOfRow } from "../../../src/cells/row-messages.ts";
import { shownMessage } from "../../../src/dashboard/design/transcript/content.ts";
import { FEW_LINES, isFoldedUnasked, linesOf, MANY, RESULT_LINES, SHOWN_LINES, withoutThinking } from "../../../src/dashboard/design/transcript/folding.ts";
import { rowsByMessage, transcriptRows } from "../../../src/dashboard/design/transcript/transcript-rows.ts";
import { countIn, outlinedText, searchedText } from "../../../src/dashboard/pages/rollout/find/found-text.ts";
import { neighboursOf } from "../../../src/dashboard/pages/rollout/neighbours.ts";
import { messageInHash, placePart, rolloutQuery, rolloutQueryOf } from "../../../src/dashboard/pages/rollout/rollout-query.ts";
import { errorOf, numbersOf } from "../../../src/dashboard/pages/rollout/row-facts.ts";

const rowsOf = (prompt: unknown, completion: unknown) => transcriptRows(messagesOfRow({ prompt, completion }).map(messageOutline));
const call = (id: string, name: string) => JSON.stringify({ id, name, arguments: "{}" });

describe("a transcript", () => {
  it("has calls of tools below the message that makes them, each with its result", () => {
    const rows = rowsOf(
      [{ role: "user", content: "q" }],
      [
        { role: "assistant", content: "", tool_calls: [call("a", "first"), call("b", "second"), call("c", "third")] },
        { role: "tool", tool_call_id: "b", content: "2" },
        { role: "tool", tool_call_id: "a", content: "1" },
        { role: "tool", tool_call_id: "unknown", content: "?" },
        { role: "assistant", content: "done" },
      ],
    );
    expect(rows).toEqual([
      { kind: "message", number: 0, turn: null },
      { kind: "message", number: 1, turn: 1 },
      { kind: "call", number: 1, call: 0, name: "first", result: 3 },
      { kind: "call", number: 1, call: 1, name: "second", result: 2 },
      { kind: "call", number: 1, call: 2, name: "third", result: null },
      { kind: "message", number: 4, turn: null },
      { kind: "message", number: 5, turn: 2 },
    ]);
    expect(rowsByMessage(rows).get(2)).toBe(3);
  });

  it("gives results without an id, as older rows have them, to the calls in their order", () => {
    const rows = rowsOf("q", [
      { role: "assistant", content: "", tool_calls: [call("a", "one"), call("b", "two")] },
      { role: "tool", content: "1" },
      { role: "tool", content: "2" },
      { role: "tool", content: "more" },
    ]);
    expect(rows.map((row) => (row.kind === "call" ? row.result : row.number))).toEqual([0, 1, 2, 3, 4]);
    expect(rows.at(-1)?.kind).toBe("message");
  });

  it("is read from rows of any shape", () => {
    for (const row of [
      {},
      { prompt: null, completion: "text" },
      { prompt: [1, null, "x"], completion: { role: 5, content: { a: 1 }, tool_calls: [null, 3, "no json", {}] } },
      {
        prompt: [
          { role: "user", content: [{ type: "input_audio", input_audio: { format: { toString: 1 }, data: { toString: 1 } } }, { type: { toString: 1 } }] },
        ],
      },
    ])
      for (const message of messagesOfRow(row)) {
        expect(transcriptRows([messageOutline(message)]).length).toBeGreaterThan(0);
        expect(shownMessage(message).parts).toBeInstanceOf(Array);
        expect(typeof searchedText(message)).toBe("string");
      }
  });

  it("folds system prompts, and shows less of each message where there are many", () => {
    const [system, user] = messagesOfRow({
      prompt: [
        { role: "system", content: "s" },
        { role: "user", content: "u" },
      ],
    }).map(messageOutline);
    expect([system, user].map((outline) => outline !== undefined && isFoldedUnasked(outline))).toEqual([true, false]);
    expect([linesOf("assistant", 3), linesOf("tool", 3), linesOf("tool", MANY + 1)]).toEqual([SHOWN_LINES, RESULT_LINES, FEW_LINES]);
  });

  it("tells what was thought from what was answered", () => {
    expect(withoutThinking("<think>a\nb</think>\n\nc")).toEqual({ thinking: "a\nb", answer: "c" });
    expect(withoutThinking("<think>never closed")).toEqual({ thinking: "never closed", answer: "" });
    expect(withoutThinking("say <think>")).toEqual({ thinking: "", answer: "say <think>" });
  });

  it("draws pictures of the row itself only, and names all others", () => {
    const parts = (url: string) => shownMessage({ part: "prompt", message: { role: "user", content: [{ type: "image_url", image_url: { url } }] } }).parts;
    expect(parts("data:image/png;base64,AAAA")).toEqual([{ at: 0, kind: "media", what: "Image, image/png, 1 KiB", image: "data:image/png;base64,AAAA" }]);
    for (const url of ["https://evil.example/x.png", "data:image/svg+xml;base64,AAAA", "data:text/html,<script>", 'data:image/png;base64,AA"onerror='])
      expect(parts(url)).toMatchObject([{ kind: "media", image: null }]);
  });
});

describe("the search through a rollout", () => {
  it("counts in any case, and reads whole what an outline does not have whole", () => {
    expect(countIn("aAa a", "aa")).toBe(1);
    expect(countIn("x", "")).toBe(0);
    const [message] = messagesOfRow({ completion: [{ role: "assistant", content: "c", reasoning_content: "r", tool_calls: [call("a", "look")] }] });
    if (message === undefined) throw new Error("no message");
    expect(outlinedText(messageOutline(message))).toBeNull();
    expect(searchedText(message)).toContain("look {}");
  });
});

describe("the address of a rollout", () => {
  it("keeps what the grid says, and ignores what is no view", () => {
    expect(rolloutQueryOf({ tab: "scores", raw: "1" })).toEqual({ tab: "scores", raw: true });
    expect(rolloutQueryOf({ tab: "<script>", raw: "yes" })).toEqual({ tab: "messages", raw: false });
    expect(rolloutQuery({ filter: "reward < 1", sort: "reward", tab: "info", team: "t" }, { tab: "messages", raw: true })).toEqual({
      ...{ filter: "reward < 1", sort: "reward", raw: "1" },
    });
    expect([messageInHash("#m12"), messageInHash("#m"), messageInHash("#m1e9"), placePart("007"), placePart("-1"), placePart("1234567890")]).toEqual([
      12,
      null,
      null,
      7,
      null,
      null,
    ]);
  });
});

describe("the rollouts beside one", () => {
  const table = {
    rollouts: 2,
    rowOf: ({ example, rollout }: { example: number; rollout: number }) => (example < 5 ? example * 2 + rollout : null),
    placeOf: (row: number) => ({ example: Math.floor(row / 2), rollout: row % 2 }),
  };

  it("are those of the list, in its order", () => {
    const list = Uint32Array.from([7, 2, 5]);
    expect(neighboursOf({ example: 1, rollout: 0 }, table, list)).toEqual({
      previous: { example: 3, rollout: 1 },
      next: { example: 2, rollout: 1 },
      number: 2,
      of: 3,
    });
    expect(neighboursOf({ example: 3, rollout: 1 }, table, list)).toMatchObject({ previous: null, number: 1 });
  });

  it("are the nearest in the results where the list does not have it", () => {
    expect(neighboursOf({ example: 2, rollout: 0 }, table, Uint32Array.from([7, 2, 5]))).toEqual({
      ...{ previous: { example: 1, rollout: 0 }, next: { example: 2, rollout: 1 }, number: null, of: 3 },
    });
    expect(neighboursOf({ example: 0, rollout: 0 }, table, new Uint32Array())).toEqual({ previous: null, next: null, number: null, of: 0 });
  });
});

describe("what a row says", () => {
  const facts = (fields: Record<string, unknown>) => ({ fields, long: {} }) as Parameters<typeof errorOf>[0];

  it("is an error with its code and what a resume does, or whatever another program called one", () => {
    expect(errorOf(facts({ error: null }))).toBeNull();
    expect(errorOf(facts({ error: { code: "rate_limited", error_chain_repr: "ModelError('x')" } }))).toMatchObject({
      code: "rate_limited",
      text: "ModelError('x')",
    });
    expect(errorOf(facts({ error: { code: "rate_limited" } }))?.hint).toContain("resume");
    expect(errorOf(facts({ error: "broken" }))).toEqual({ code: null, text: "broken", hint: null });
    expect(errorOf(facts({ error: [1] }))?.text).toBe("[1]");
  });

  it("are its numbers in either shape of times, and none where there are none", () => {
    expect(numbersOf(facts({ reward: 1, generation_ms: 2_000, scoring_ms: 500 }))).toMatchObject({ reward: 1, generation: 2, scoring: 0.5 });
    expect(numbersOf(facts({ timing: { generation: { duration: 3 }, scoring: { duration: 1 }, total: 4 } }))).toMatchObject({ generation: 3, scoring: 1 });
    expect(numbersOf(facts({ reward: "1", timing: 5, token_usage: [] }))).toMatchObject({ reward: null, generation: null, inputTokens: null });
  });
});
