import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rolloutMessages, rolloutOutline } from "../../../src/api/cells/cell-schemas.ts";
import { clip } from "../../../src/cells/clip.ts";
import { messagePage, PAGE_CHARACTERS } from "../../../src/cells/message-page.ts";
import { FIELD_CHARACTERS, OUTLINE_CHARACTERS, outlineOfRow } from "../../../src/cells/outline.ts";
import { previewOf } from "../../../src/cells/preview.ts";
import { fieldOf } from "../../../src/cells/row-field.ts";
import { RowSearcher } from "../../../src/cells/search-row.ts";

type Row = Record<string, unknown>;

/** Rows as nobody writes them: any JSON in the places of what is known. */
const anyRow = fc.record(
  {
    example_id: fc.jsonValue(),
    ...Object.fromEntries(
      ["prompt", "completion", "info", "error", "metrics", "tool_defs", "timing", "edgewise_turns", "answer"].map((name) => [name, fc.jsonValue()]),
    ),
    completion: fc.oneof(
      fc.jsonValue(),
      fc.array(
        fc.record({ role: fc.jsonValue(), content: fc.jsonValue(), tool_calls: fc.jsonValue(), reasoning_content: fc.jsonValue() }, { requiredKeys: [] }),
      ),
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Row>;

const outlined = (row: Row) => rolloutOutline.parse(JSON.parse(JSON.stringify({ example: 0, example_id: null, rollout: 0, bytes: 1, ...outlineOfRow(row) })));

const talk: Row = {
  example_id: 3,
  prompt: [
    { role: "system", content: "Be short." },
    { role: "user", content: "Where is it?" },
  ],
  completion: [
    { role: "assistant", content: "", reasoning_content: "Let me look.", tool_calls: ['{"id": "c1", "name": "search", "arguments": "{\\"for\\": \\"it\\"}"}'] },
    {
      role: "tool",
      tool_call_id: "c1",
      content: [
        { type: "text", text: "on the table" },
        { type: "image_url", image_url: { url: "data:," } },
      ],
    },
    { role: "assistant", content: "On the table." },
  ],
  answer: "table",
  info: { level: "hard", tags: ["a", "b"] },
  reward: 1,
  error: null,
  metrics: { exact: 1 },
  exact: 1,
  tool_defs: [{ name: "search", description: "…", parameters: {} }],
  timing: {
    start_time: 1,
    total: 4.5,
    generation: { duration: 4 },
    scoring: { duration: 0.5 },
    model: {
      spans: [
        { start: 1, end: 3 },
        { start: 3.5, end: 5 },
      ],
    },
  },
  notes: "n".repeat(FIELD_CHARACTERS + 1),
};

describe("the outline of a row", () => {
  it("says who says how much, what calls are made, what each answer took, and has every small field", () => {
    const { messages, turns, tools, fields, long, metrics } = outlined(talk);
    expect(messages).toEqual([
      { part: "prompt", role: "system", chars: 9, text: "Be short." },
      { part: "prompt", role: "user", chars: 12, text: "Where is it?" },
      { part: "completion", role: "assistant", chars: 0, text: "", reasoning_chars: 12, tool_calls: [{ id: "c1", name: "search", chars: 13 }] },
      { part: "completion", role: "tool", chars: 24, text: "on the table\n[image_url]", tool_call_id: "c1", media: ["image_url"] },
      { part: "completion", role: "assistant", chars: 13, text: "On the table." },
    ]);
    expect(turns).toEqual([
      { message: 2, seconds: 2, input_tokens: null, output_tokens: null },
      { message: 4, seconds: 1.5, input_tokens: null, output_tokens: null },
    ]);
    expect([tools, metrics]).toEqual([["search"], { exact: 1 }]);
    expect(Object.keys(fields)).toEqual(["example_id", "answer", "info", "reward", "error", "timing"]);
    expect(long).toEqual({ notes: { kind: "text", size: FIELD_CHARACTERS + 1, start: "n".repeat(OUTLINE_CHARACTERS) } });
  });

  it("has the tokens of each turn where the state column says them, and nothing where it is of other answers", () => {
    const edgewise_turns = [
      { seconds: 1, input_tokens: 10, output_tokens: 2, cached: true },
      { seconds: null, input_tokens: 12, output_tokens: 3 },
    ];
    expect(outlined({ ...talk, edgewise_turns }).turns).toEqual([
      { message: 2, seconds: 1, input_tokens: 10, output_tokens: 2, cached: true },
      { message: 4, seconds: null, input_tokens: 12, output_tokens: 3 },
    ]);
    expect(outlined({ ...talk, edgewise_turns: edgewise_turns.slice(1) }).turns).toEqual([]);
  });

  it("takes any row, and stays small where its messages are large", () => {
    fc.assert(fc.property(anyRow, (row) => void outlined(row)));
    // What no text can be made of.
    expect(outlined({ prompt: [{ role: "user", content: [{ type: { toString: 1 } }] }] }).messages[0]?.media).toEqual(["part"]);
    const many = outlined({ completion: Array.from({ length: 100_000 }, (_, index) => ({ role: "assistant", content: `${index} ${"y".repeat(400)}` })) });
    expect([many.messages.length, many.messages[7]]).toEqual([100_000, { part: "completion", role: "assistant", chars: 402, text: `7 ${"y".repeat(18)}` }]);
    const large = "x".repeat(5_000_000);
    const row = {
      prompt: large,
      completion: [{ role: "assistant", content: large, tool_calls: [{ id: large, function: { name: large, arguments: large } }] }],
      info: { large },
    };
    expect(JSON.stringify(outlineOfRow(row)).length).toBeLessThan(4_000);
  });
});

describe("messages by their numbers", () => {
  it("come as many as fit, each once, for any rows and borders", () => {
    const row = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 9 }).map((sizes) => ({
      prompt: "a text",
      completion: sizes.map((size, index) => ({ role: "assistant", content: `${index}${"x".repeat(size * (PAGE_CHARACTERS / 2))}` })),
    }));
    fc.assert(
      fc.property(row, fc.nat(10), fc.option(fc.nat(12), { nil: undefined }), (value, from, to) => {
        const all = value.completion.length + 1;
        const seen: number[] = [];
        for (let next: number | null = from; next !== null; ) {
          const page = messagePage(value, next, to);
          rolloutMessages.parse(page);
          expect(page.from).toBe(next);
          const size = page.messages.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0);
          expect(page.messages.length <= 1 || size <= PAGE_CHARACTERS).toBe(true);
          seen.push(...page.messages.map((_, index) => page.from + index));
          next = page.next;
        }
        expect(seen).toEqual(Array.from({ length: Math.max(0, Math.min(to ?? all, all) - from) }, (_, index) => from + index));
      }),
      { numRuns: 30 },
    );
  });
});

describe("a field of a row", () => {
  it("is what its name says", () => {
    const of = (name: string, row = talk): unknown => fieldOf(row, name);
    expect(
      ["prompt", "completion", "turns", "seconds", "answer", "info.level", "info.tags", "reward", "error", "nobody", "info.nobody"].map((name) => of(name)),
    ).toEqual([...["Where is it?", "On the table.", 2, 4.5, "table", "hard", '["a","b"]', 1, null, null, null]]);
    expect(
      of("completion", { completion: [{ role: "assistant", content: "", tool_calls: [{ id: "1", function: { name: "look", arguments: { at: 1 } } }] }] }),
    ).toBe('look({"at":1})');
    expect(of("info.level", { info: '{"level": 3}' })).toBe(3);
    expect(of("info.level", { "info.level": "of a state column", info: { level: 3 } })).toBe("of a state column");
    expect(of("error", { error: { error: "ModelError", error_chain_repr: "ModelError('503')", error_chain_str: "503" } })).toBe("503");
    expect(of("seconds", { timing: { generation_ms: 1_500, scoring_ms: 500, total_ms: 2_000 } })).toBe(2);
    expect(of("toString", {})).toBe(null);
  });

  it("of a preview is clipped, never within a character, and says so; any row has any field", () => {
    expect(previewOf(talk, ["prompt", "turns"], 5)).toEqual({ values: { prompt: "Where", turns: 2 }, cut: ["prompt"] });
    expect(previewOf(talk, ["prompt"], 12)).toEqual({ values: { prompt: "Where is it?" } });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 20 }), (text, most) => {
        const clipped = clip(text, most);
        expect(text.startsWith(clipped) && clipped.length <= most && clipped.isWellFormed()).toBe(text.isWellFormed() || clipped.isWellFormed());
        expect(clipped.length).toBeGreaterThanOrEqual(Math.min(text.length, most - 1));
      }),
    );
    fc.assert(
      fc.property(
        anyRow,
        fc.array(fc.oneof(fc.constantFrom("prompt", "completion", "turns", "seconds", "error", "info.a", "__proto__"), fc.string())),
        (row, fields) => {
          const { values } = previewOf(row, fields, 50);
          for (const name of fields) expect(typeof values[name] === "object" ? values[name] : null).toBe(null);
        },
      ),
    );
  });
});

describe("a search in rows", () => {
  const found = (text: string, row: Row, fields = ["prompt", "completion", "answer"]) => {
    const searcher = new RowSearcher({ text, in: fields, where: null });
    return searcher.mayMatch(JSON.stringify(row)) ? searcher.match(row) : null;
  };

  it("looks into all messages, reasoning and calls, whatever the case, and shows what stands around", () => {
    expect(found("TABLE", talk)).toEqual({ field: "completion", excerpt: expect.stringContaining("on the table") as string });
    expect(found("let me LOOK", talk)).toMatchObject({ field: "completion" });
    expect(found('"for": "it"', talk)).toMatchObject({ field: "completion" });
    expect(found("table", talk, ["answer"])).toEqual({ field: "answer", excerpt: "table" });
    expect(found("be short", talk, ["answer"])).toBe(null);
    expect(found("hard", talk, ["info.level"])).toEqual({ field: "info.level", excerpt: "hard" });
    const far = found("needle", { completion: `${"a ".repeat(500)}needle${" b".repeat(500)}` });
    expect(far?.excerpt).toMatch(/^….*needle.*…$/);
    expect(far?.excerpt.length).toBeLessThanOrEqual(202);
  });

  it("passes by no row that has the text, however JSON writes it", () => {
    const texts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(texts, texts, texts, (before, text, behind) => {
        for (const row of [
          { prompt: before + text + behind },
          { completion: [{ role: "assistant", content: "", tool_calls: [JSON.stringify({ name: "x", arguments: before + text })] }] },
        ])
          expect(found(text, row)).not.toBe(null);
      }),
    );
  });

  it("asks for the whole value of a field, beside a text or without one", () => {
    const level = new RowSearcher({ text: null, in: [], where: { field: "info.level", value: "hard" } });
    expect([level.match(talk), level.match({ info: { level: "harder" } }), level.match({})]).toEqual([{ field: null, excerpt: "" }, null, null]);
    const both = new RowSearcher({ text: "table", in: ["answer"], where: { field: "reward", value: "1" } });
    expect([both.match(talk), both.match({ ...talk, reward: 0 })]).toEqual([{ field: "answer", excerpt: "table" }, null]);
  });
});
