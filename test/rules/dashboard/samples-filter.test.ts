import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkFilter } from "../../../src/dashboard/samples/filter/check.ts";
import { complete } from "../../../src/dashboard/samples/filter/complete.ts";
import { type Comparison, type Filter, joined, OPERATORS } from "../../../src/dashboard/samples/filter/filter.ts";
import { fieldOf, FIXED_NAMES, metricName } from "../../../src/dashboard/samples/filter/names.ts";
import { parseFilter } from "../../../src/dashboard/samples/filter/parse.ts";
import { printFilter } from "../../../src/dashboard/samples/filter/print.ts";
import { fieldToken } from "../../../src/dashboard/samples/filter/tokens.ts";

const NAMES = {
  metrics: ["exact", "my metric", "reward", 'say "hi"', "m:odd"],
  errorCodes: [null, "model_error", "timeout"],
  infoKeys: ["level", "two words"],
};

const parsed = (text: string): Filter => {
  const outcome = parseFilter(text);
  if (!outcome.ok || outcome.value === null) throw new Error(`${text}: ${JSON.stringify(outcome)}`);
  return outcome.value;
};
/** Without the places in the text, which a printed filter has elsewhere. */
const meaning = (filter: Filter): unknown => {
  if (filter.kind === "comparison") return { field: filter.field, operator: filter.operator, value: filter.value };
  if (filter.kind === "words") return filter;
  return filter.kind === "not" ? { not: meaning(filter.part) } : { [filter.kind]: filter.parts.map(meaning) };
};
/** What is wrong, with the text that it is about. */
const wrong = (text: string): readonly [about: string, says: string, allowed: readonly string[]] => {
  const outcome = parseFilter(text);
  const checked = outcome.ok && outcome.value !== null ? checkFilter(outcome.value, NAMES) : outcome;
  if (checked.ok) throw new Error(`${text} is right`);
  const { span, text: says, allowed } = checked.problem;
  return [text.slice(span.start, span.end), says, allowed];
};

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("and", "NOT", 'a "b\\', "m:x", "info.y", "m:", "1e3", "not in", "\u202e<script>"),
);
const words: fc.Arbitrary<Filter> = anyText.filter((text) => text.trim() !== "").map((text) => ({ kind: "words", text }));
const span = { start: 0, end: 0 };
const field = fc.record({ group: fc.constantFrom("" as const, "m" as const, "info" as const), name: anyText });
const comparison: fc.Arbitrary<Filter> = fc
  .record({ field, operator: fc.constantFrom(...OPERATORS), value: anyText })
  .map((each): Comparison => ({ kind: "comparison", ...each, spans: { field: span, operator: span, value: span } }));
const { filter: anyFilter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    words,
    comparison,
    tie("filter").map((part): Filter => ({ kind: "not", part })),
    fc
      .tuple(fc.constantFrom("and" as const, "or" as const), fc.array(tie("filter"), { minLength: 1, maxLength: 4 }))
      .map(([kind, parts]) => joined(kind, parts)),
  ),
}));

describe("a filter of rollouts", () => {
  it("is read as it is printed, whatever stands in it", () => {
    fc.assert(
      fc.property(anyFilter, (filter) => {
        const text = printFilter(filter);
        fc.pre(text.length <= 2_000);
        expect(meaning(parsed(text))).toEqual(meaning(filter));
      }),
    );
  });

  it("never fails to be read or to be refused, whatever is typed, and says within the text where it is wrong", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(fc.constantFrom("(", ")", '"', "not", "and", "or", "=", "!", "m:", "reward", "x", " ")).map((all) => all.join("")),
        ),
        (text) => {
          const outcome = parseFilter(text);
          if (outcome.ok) return;
          const { start, end } = outcome.problem.span;
          expect(start).toBeGreaterThanOrEqual(0);
          expect(end).toBeLessThanOrEqual(text.length);
          expect(start).toBeLessThanOrEqual(end);
        },
      ),
    );
    expect(parseFilter("(".repeat(1_000))).toMatchObject({ ok: false, problem: { text: expect.stringContaining("50 deep") } });
  });

  it("has terms beside each other that all hold, closer than “or”, and brackets", () => {
    expect(meaning(parsed("reward < 0.5 error=any or wrong"))).toEqual({
      or: [
        {
          and: [
            { field: { group: "", name: "reward" }, operator: "<", value: "0.5" },
            { field: { group: "", name: "error" }, operator: "=", value: "any" },
          ],
        },
        { kind: "words", text: "wrong" },
      ],
    });
    expect(printFilter(parsed('a (b OR not m:"my metric">=1e-3) info.level=5'))).toBe('a and (b or not m:"my metric" >= 1e-3) and info.level = 5');
    expect(parseFilter("  ")).toEqual({ ok: true, value: null });
  });

  it.each([
    ["reward <", "", "A value must follow."],
    ["reward < low", "low", "“low” is no number."],
    ["< 3", "<", "A name must stand before this."],
    ["(reward < 3", "(", "This bracket is not closed."],
    ["reward < 3)", ")", "This bracket closes none."],
    ["a or", "", "Something must follow."],
    ['"open', '"open', "These quotes are not closed."],
    ["a ! b", "!", "“!” stands alone."],
    ['m:"my metric"', "", "This is compared with nothing."],
    ["rewrd > 1", "rewrd", "“rewrd” is no column of this run."],
    ["m:tokens > 1", "m:tokens", "“tokens” is no column of this run."],
    ["error = timeuot", "timeuot", "“timeuot” is no code of an error."],
    ["error > timeout", ">", "“>” does not go with error."],
    ["truncated = maybe", "maybe", "“maybe” is neither yes nor no."],
  ])("%s: says what is wrong, and where", (text, about, says) => {
    expect(wrong(text).slice(0, 2)).toEqual([about, says]);
  });

  it("says what is allowed", () => {
    expect(wrong("error = x")[2]).toEqual(["none", "any", "model_error", "timeout"]);
    expect(wrong("nothing = 1")[2]).toEqual(expect.arrayContaining(["reward", "exact", '"my metric"']));
    expect(wrong("error < 1")[2]).toEqual(["=", "!="]);
    expect(wrong("truncated = x")[2]).toEqual(["yes", "no"]);
  });
});

describe("the name of a metric", () => {
  it("means the metric wherever a filter says it as it is offered", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.constantFrom(...FIXED_NAMES)), (metric) => {
        const filter = parsed(`${fieldToken(metricName(metric))} = 1`);
        if (filter.kind !== "comparison") throw new Error("no comparison");
        expect(fieldOf(filter.field, { metrics: [metric], errorCodes: [null] })).toEqual({ kind: "number", column: `m:${metric}` });
      }),
    );
  });
});

describe("completion", () => {
  const offers = (text: string): readonly string[] => complete(text, text.length, NAMES).options.map((each) => each.text);
  it("offers names, then operators, then values, then what joins terms", () => {
    expect(offers("")).toEqual(expect.arrayContaining(["reward", "error", "exact", '"my metric"', "m:reward"]));
    expect(offers("my")).toEqual(['"my metric"']);
    expect(offers("reward ")).toEqual(expect.arrayContaining(["<", ">=", "and"]));
    expect(offers("error = ")).toEqual(["any", "none", "model_error", "timeout"]);
    expect(offers("error = time")).toEqual(["timeout"]);
    expect(offers("truncated=")).toEqual(["yes", "no"]);
    expect(offers("error = none ").slice(0, 2)).toEqual(["and", "or"]);
    expect(offers("info.")).toEqual(["info.level", 'info."two words"']);
    expect(offers("not lev")).toEqual(["info.level"]);
  });

  it("takes the whole word out that it completes, and leaves the rest", () => {
    const text = "rew and error = any";
    expect(complete(text, 2, NAMES)).toMatchObject({ start: 0, end: 3 });
    expect(complete('"my', 3, NAMES)).toMatchObject({ start: 0, end: 3, options: [{ text: '"my metric"' }] });
  });
});
