import { describe, expect, test } from "vitest";
import { planLines } from "../../../src/cli/applying/apply-plan.ts";
import { ALERTS, SCHEDULES } from "../../../src/cli/schedules/applied-kinds.ts";
import { wantedIn } from "../../../src/cli/schedules/schedule-file.ts";
import { sparkline } from "../../../src/report/statistics/sparkline.ts";
import { dated } from "../../../src/schedules/dated-names.ts";
import { definitionOf, definitionSchema } from "../../../src/schedules/definition-schema.ts";

const ENV = { ONCALL_URL: "https://hooks.example/T0/secret", EMPTY: "", NO_URL: "hooks.example/T0/secret" };
const EVAL = '[schedule.eval]\nenv_id = "gsm8k"\n';
const refusal = (text: string): string => {
  try {
    wantedIn(text, "s.toml", ENV);
    return "nothing";
  } catch (error) {
    const { message, hints } = error as { message: string; hints: readonly string[] };
    return [message, ...hints].join("\n");
  }
};

describe("a schedule", () => {
  test("that looks for drift asks the model anew each time: what reads the cache is refused by name, and with no baseline it is not", () => {
    const withCache = (cache: string, drift?: object) =>
      definitionSchema.safeParse({ cron: "@daily", eval: { env_id: "gsm8k", cache }, ...(drift === undefined ? {} : { drift }) });
    for (const mode of ["read", "read-write"]) {
      expect(withCache(mode).error?.issues).toMatchObject([{ path: ["eval", "cache"], message: expect.stringContaining('drift.baseline = "none"') }]);
      expect(withCache(mode, { metric: "other" }).success).toBe(false);
      expect(withCache(mode, { baseline: "none" }).success).toBe(true);
    }
    expect(withCache("off").success).toBe(true);
  });
});

describe("a file of schedules", () => {
  test("is read with its dates as texts, beside tables for others", () => {
    const { schedules, alerts } = wantedIn(
      `[[schedule]]\nname = "nightly"\ncron = "@daily"\nuntil = 2030-01-01T00:00:00Z\n${EVAL}[[monitor]]\nname = "x"\n`,
      "s.toml",
      ENV,
    );
    const [nightly, ...more] = schedules ?? [];
    expect([more, alerts]).toEqual([[], null]);
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

  test.each(["", "# nothing\n", '[[evaluator]]\nname = "a"\n'])("of another command, or of none, is refused, and takes away nothing: %j", (text) => {
    expect(refusal(text)).toContain("s.toml: has no [[schedule]] and no [[alert]]\nschedule = [] says that there are to be no schedules");
  });

  test("of alerts alone says nothing of schedules, and an empty list says that there are to be none", () => {
    expect(wantedIn("schedule = []\n", "s.toml", ENV)).toEqual({ schedules: [], alerts: null });
    expect(wantedIn("alert = []\n", "s.toml", ENV)).toEqual({ schedules: null, alerts: [] });
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

describe("the alerts of a file", () => {
  const alertsIn = (text: string) => wantedIn(text, "s.toml", ENV).alerts;

  test("are read beside schedules, with an address that a variable holds", () => {
    const text = '[[alert]]\nname = "oncall"\nto = "webhook"\nurl_var = "ONCALL_URL"\non = ["run.failed"]\nfor = ["night*"]\n';
    expect(alertsIn(`[[schedule]]\nname = "a"\ncron = "@daily"\n${EVAL}${text}`)).toEqual([
      { name: "oncall", given: { to: "webhook", url: ENV.ONCALL_URL, on: ["run.failed"], for: ["night*"] } },
    ]);
    expect(alertsIn('[[alert]]\nname = "mail"\nto = "email"\nemail = "team@example.com"\n')).toEqual([
      { name: "mail", given: { to: "email", email: "team@example.com" } },
    ]);
  });

  test.each([
    ['to = "sms"', "[[alert]] #1 (a): to: "],
    ['to = "slack"\nur_var = "ONCALL_URL"', "[[alert]] #1 (a): unknown key ur_var (did you mean url_var?)"],
    ['to = "slack"\nurl_var = "UNSET"', '[[alert]] #1 (a): url_var: the variable "UNSET", which is to hold the address, is not set'],
    ['to = "slack"\nurl_var = "EMPTY"', '[[alert]] #1 (a): url_var: the variable "EMPTY"'],
    ['to = "slack"\nurl_var = 3', "[[alert]] #1 (a): url_var: must be the name of a variable"],
    ['to = "slack"\nurl_var = "NO_URL"', "[[alert]] #1 (a): url_var: must be an http(s) URL"],
    ['to = "slack"\nurl_var = "ONCALL_URL"\nurl = "https://a.example"', "[[alert]] #1 (a): url_var: is not possible beside url"],
    ['to = "email"', "[[alert]] #1 (a): email: must be given"],
    ['to = "slack"\non = ["run.fialed"]', "[[alert]] #1 (a): on.0: "],
    ['to = "slack"\nfor = []', "[[alert]] #1 (a): for: "],
    ['to = "slack"\n[[alert]]\nname = "a"\nto = "slack"', 'two alerts are called "a"'],
    ['to = "slack"\n[[alert]]\nname = "b c"\nto = "slack"', "[[alert]] #2: name: must have"],
  ])("%j is refused by its table and key, without an address", (text, reason) => {
    const told = refusal(`[[alert]]\nname = "a"\n${text}\n`);
    expect(told).toContain(reason);
    expect(told).not.toContain("secret");
  });
});

describe("what a file changes", () => {
  const plan = { changes: [], others: ["old"], speaks: true, prunes: false };
  const given = {};
  const alert = { name: "oncall", given, fields: [] };

  test("has a line for each schedule, with its next time", () => {
    const change = (name: string, change: "add" | "change" | "none", fields: string[] = []) => ({
      name,
      given,
      change,
      fields,
      data: { name, next: ["soon"] },
    });
    const changes = [change("a", "add"), change("b", "change", ["cron", "keep"]), change("c", "none")];
    const lines = ["+ a: new, next soon", "~ b: cron, keep changed, next soon", "= c: unchanged"];
    expect(planLines({ ...plan, kind: SCHEDULES, changes })).toEqual([...lines, "? old: not in the file, left as it is (--prune deletes it)"]);
    expect(planLines({ ...plan, kind: SCHEDULES, changes, prunes: true })).toEqual([...lines, "- old: deleted, its runs stay"]);
    expect(planLines({ ...plan, kind: SCHEDULES, speaks: false })).toEqual([
      "? old: not in the file, left as it is (the file says nothing of them; schedule = [] says that there are to be none)",
    ]);
  });

  test("has a line for each alert, and deletes none for a file that has no such table", () => {
    const changes = [
      { ...alert, change: "add" as const },
      { ...alert, change: "change" as const, fields: ["url", "disabled"] },
    ];
    expect(planLines({ ...plan, kind: ALERTS, changes, prunes: true })).toEqual([
      "+ alert oncall: new",
      "~ alert oncall: url, disabled changed, and enabled again",
      "- alert old: deleted, with its messages",
    ]);
    expect(planLines({ ...plan, kind: ALERTS, speaks: false })).toEqual([
      "? alert old: not in the file, left as it is (the file says nothing of them; alert = [] says that there are to be none)",
    ]);
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
