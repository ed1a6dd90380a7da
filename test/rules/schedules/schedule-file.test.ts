import { describe, expect, test } from "vitest";
import { schedulesIn } from "../../../src/cli/schedules/schedule-file.ts";
import { sparkline } from "../../../src/report/statistics/sparkline.ts";
import { dated } from "../../../src/schedules/dated-names.ts";
import { definitionOf, definitionSchema } from "../../../src/schedules/definition-schema.ts";

const EVAL = '[schedule.eval]\nenv_id = "gsm8k"\n';
const refusal = (text: string): string => {
  try {
    schedulesIn(text, "s.toml");
    return "nothing";
  } catch (error) {
    const { message, hints } = error as { message: string; hints: readonly string[] };
    return [message, ...hints].join("\n");
  }
};

describe("a file of schedules", () => {
  test("is read with its dates as texts, beside tables for others", () => {
    const [nightly, ...more] = schedulesIn(
      `[[schedule]]\nname = "nightly"\ncron = "@daily"\nuntil = 2030-01-01T00:00:00Z\n${EVAL}[[alert]]\nname = "x"\n`,
      "s.toml",
    );
    expect(more).toEqual([]);
    expect(nightly).toMatchObject({ name: "nightly", given: { cron: "@daily", eval: { env_id: "gsm8k" } } });
    expect(definitionOf(definitionSchema.parse(nightly?.given))).toEqual({
      cron: "@daily",
      time_zone: "UTC",
      overlap: "skip",
      catch_up: "last",
      until: "2030-01-01T00:00:00.000Z",
      data: "pinned",
      eval: { env_id: "gsm8k" },
    });
  });

  test("is refused with everything that is wrong, each by its table and key", () => {
    const told = refusal(
      `[[schedule]]\nname = "a"\ncron = "@daily"\novrelap = "skip"\n${EVAL}[[schedule]]\nname = "b c"\n${EVAL}[[schedule]]\nname = "d"\nevery = "1x"\n${EVAL}[[schedul]]\n`,
    );
    expect(told).toContain("[[schedule]] #1 (a): unknown key ovrelap");
    expect(told).toContain("overlap");
    expect(told).toContain("[[schedule]] #2: name:");
    expect(told).toContain("[[schedule]] #3 (d): every:");
    expect(told).toContain("unknown key schedul");
  });

  test.each([
    [`[[schedule]]\nname = "a"\n${EVAL}`, "or every must be given"],
    [`[[schedule]]\nname = "a"\ncron = "@daily"\nevery = "1d"\n${EVAL}`, "and not both"],
    [`[[schedule]]\nname = "a"\ncron = "@daily"\n`, "eval"],
    [`[[schedule]]\nname = "a"\ncron = "@daily"\n${EVAL}[[schedule]]\nname = "a"\ncron = "@daily"\n${EVAL}`, "two schedules are called"],
    ["schedule = 3\n", "[[schedule]]"],
    ["= 3\n", "not valid TOML"],
  ])("%j is refused", (text, reason) => {
    expect(refusal(text)).toContain(reason);
  });
});

test("the day in a name is that of the due time in the schedule's zone", () => {
  const due = Date.parse("2026-12-31T23:30:00Z");
  expect(dated("nightly {{date}}", due, "UTC")).toBe("nightly 2026-12-31");
  expect(dated({ dataset: "edgewise/news-{{date}}", list: ["{{date}}", 3] }, due, "Europe/Berlin")).toEqual({
    dataset: "edgewise/news-2027-01-01",
    list: ["2027-01-01", 3],
  });
});

test("rewards are a line of bars, with a dot for what is not known", () => {
  expect(sparkline([0, 0.5, 1, null])).toBe("▁▅█·");
  expect(sparkline([0.4, 0.4])).toBe("▅▅");
  expect(sparkline([])).toBe("");
});
