import { describe, expect, it } from "vitest";
import { localText, withLocalMoments, zonedText } from "../../../src/dashboard/design/times.ts";
import type { Schedule, SeriesEntry } from "../../../src/dashboard/api/schedule-answers.ts";
import { actsOf, mainActsOf } from "../../../src/dashboard/pages/schedules/schedule-acts.ts";
import { addressOfView, scheduleViewOf, toggledRun } from "../../../src/dashboard/pages/schedules/schedule-view.ts";
import { seriesPlot } from "../../../src/dashboard/pages/schedules/series-plot.ts";

const DAY_MS = 86_400_000;
const FIRST = Date.parse("2026-11-01T03:00:00.000Z");
const due = (day: number): string => new Date(FIRST + day * DAY_MS).toISOString();
const runId = (day: number): string => day.toString(16).padStart(8, "0");

const entry = (day: number, change: Partial<SeriesEntry> = {}): SeriesEntry => ({
  ...{ due_at: due(day), kind: "due", at: due(day), outcome: "run", run_id: runId(day), reason: null, status: "COMPLETED" },
  ...{ reward: 0.5 + day / 100, reward_ci95: [0.4, 0.6], dataset_digest: null, env_digest: null, removed: false, drift: null, ...change },
});

const judged = (difference: number): SeriesEntry["drift"] => ({
  ...{ verdict: "steady", metric: "reward", n: 10, baseline: 0.5, candidate: 0.5 + difference, difference, ci95: [difference - 0.1, difference + 0.1] },
  ...{ level: { difference, ci95: [-0.1, 0.1] }, evidence: 1, limit: 100, errored: 0 },
});

/** The newest first, as the service has it. */
const schedule = (series: readonly SeriesEntry[], change: Partial<Schedule> = {}): Schedule => ({
  name: "nightly",
  definition: {
    ...{ cron: "0 3 * * *", time_zone: "UTC", overlap: "skip", catch_up: "last", data: "pinned", eval: { env_id: "arithmetic" } },
    drift: { baseline: "first", first: 1, metric: "reward", false_alarms: 1 },
  },
  ...{ created_by: "ada", created_at: due(0), updated_at: due(0), paused: null, active: null, waiting: [], pinned_dataset_digest: null, env_digest: null },
  ...{ last: null, missed: null, next: [], served: true, drift: null, events: [] },
  series: series.toReversed(),
  ...change,
});

const REWARD = { measure: "reward", span: null } as const;

describe("the series of a schedule as a chart", () => {
  it("has the runs that have a reward in the order of their times, with gaps where an interval is not known", () => {
    const gone = { outcome: "skipped", run_id: null, reward: null, reward_ci95: null } as const;
    const shown = seriesPlot(schedule([entry(0), entry(1, gone), entry(2, { reward: null, reward_ci95: null }), entry(3, { reward_ci95: null })]), REWARD);
    expect(shown?.runs).toEqual([runId(0), runId(3)]);
    expect(shown?.plot.xs).toEqual([Date.parse(due(0)), Date.parse(due(3))]);
    expect(shown?.plot.lines[0]).toMatchObject({ ys: [0.5, 0.53], low: [0.4, Number.NaN], high: [0.6, Number.NaN] });
    expect(shown?.says).toBe("2 runs, the newest 0.530.");
    expect(seriesPlot(schedule([]), REWARD)).toBeNull();
  });

  it("marks what changed at the run that it is told of, else when it happened, and nothing of before the first run shown", () => {
    const event = (seq: number, type: string, detail: Schedule["events"][number]["detail"], at = due(5)): Schedule["events"][number] => ({
      seq,
      at,
      type,
      detail,
    });
    const events = [
      event(6, "drift.worse", { run_id: runId(4), since: runId(3), difference: -0.1, ci95: [-0.2, -0.05] }),
      event(5, "code.changed", { run_id: runId(2), from: "a", to: "b" }),
      event(4, "run.ended", { run_id: runId(2), status: "COMPLETED" }),
      event(3, "schedule.changed", { by: "ada", fields: ["eval"] }, due(1)),
      event(2, "data.changed", { run_id: runId(0), from: "a", to: "b" }),
    ];
    const of = schedule(
      [0, 1, 2, 3, 4].map((day) => entry(day)),
      { events },
    );
    expect(seriesPlot(of, REWARD)?.plot.marks?.map(({ at, name }) => [new Date(at).toISOString(), name])).toEqual([
      [due(0), "Other data"],
      [due(1), "Other definition"],
      [due(2), "Other code"],
      [due(3), "Worse"],
    ]);
    expect(seriesPlot(of, { measure: "reward", span: 3 })?.plot.marks?.map(({ name }) => name)).toEqual(["Other code", "Worse"]);
    expect(seriesPlot(of, { measure: "reward", span: 3 })?.runs).toEqual([2, 3, 4].map(runId));
  });

  it("of differences has the runs that were compared, and the baseline at 0", () => {
    const of = schedule([
      entry(0, { drift: { verdict: "gathering", runs: 1, of: 1 } }),
      entry(1, { drift: judged(-0.03) }),
      entry(2, { drift: { verdict: "waiting" } }),
    ]);
    const shown = seriesPlot(of, { measure: "difference", span: null });
    expect(shown?.runs).toEqual([runId(1)]);
    expect(shown?.plot.levels).toEqual([{ at: 0, name: "The baseline" }]);
    expect(shown?.says).toContain("One run, the newest -0.030 (95 %: -0.130 to 0.070)");
    expect(seriesPlot(of, REWARD)?.plot.levels).toEqual([{ at: 0.5, name: "The baseline" }]);
  });
});

describe("what is shown of a schedule", () => {
  it.each([{}, { metric: "difference" }, { last: "all", chosen: "0000abcd,0000abce" }, { last: "30" }])("is in its address: %j", (query) => {
    expect(addressOfView(scheduleViewOf(query))).toEqual(query);
  });

  it("is as usual where the address says what is not possible", () => {
    expect(scheduleViewOf({ metric: "x", last: "-1", chosen: "<script>,0000abcd,0000abcd" })).toEqual({ measure: "reward", span: 100, chosen: ["0000abcd"] });
  });

  it("are two runs at most: a third takes the place of the one before it", () => {
    const view = scheduleViewOf({ chosen: "00000001,00000002" });
    expect(toggledRun(view, "00000003")).toEqual(["00000001", "00000003"]);
    expect(toggledRun(view, "00000001")).toEqual(["00000002"]);
  });
});

describe("what may be done with a schedule", () => {
  it("is asked first with what it costs, and names what can be done as it stands", () => {
    const names = (of: Schedule): readonly string[] => actsOf(of).map(({ name }) => name);
    expect(names(schedule([]))).toEqual(["Run now", "Pause", "Delete"]);
    const drift: Schedule["drift"] = { verdict: "steady", since: null, baseline_runs: [], began_at: due(0), began_by: "first", judged: 0, waiting: 0 };
    expect(names(schedule([], { paused: { at: due(0), by: null, reason: "x" }, drift }))).toEqual(["Run now", "Resume", "Reset drift", "Delete"]);
    for (const { says } of actsOf(schedule([]))) expect(says.length).toBeGreaterThan(20);
  });

  it("is to begin a run, and to pause or go on, in each row of the list", () => {
    expect(mainActsOf({ paused: null }).map(({ id, key }) => `${id} ${key}`)).toEqual(["run b", "pause p"]);
    expect(mainActsOf({ paused: { at: due(0), by: null, reason: "x" } }).map(({ id, key }) => `${id} ${key}`)).toEqual(["run b", "resume p"]);
  });

  it("says what the service made of it", () => {
    const [run] = actsOf(schedule([]));
    const active = { due_at: due(0), run_id: runId(1), since: due(0), cancelling: false, failure: null };
    expect(run?.done(schedule([], { active }))).toBe("Run 00000001 is at work.");
    expect(run?.done(schedule([], { active, waiting: [{ due_at: due(1), kind: "manual" }] }))).toBe("The run waits for the one that is at work.");
    expect(run?.done(schedule([]))).toBe("The run is about to begin.");
  });
});

describe("moments of a schedule", () => {
  it("are told in its own zone by its name, and not at all in one that the browser does not know", () => {
    expect(zonedText("2026-11-24T03:00:00.000Z", "Asia/Tokyo")).toBe("Nov 24, 2026, 12:00 Asia/Tokyo");
    expect(zonedText("2026-11-24T03:00:00.000Z", "Europe/Berlin")).toBe("Nov 24, 2026, 04:00 Europe/Berlin");
    expect(zonedText("2026-11-24T03:00:00.000Z", "Mars/Olympus")).toBeNull();
  });

  it("within an event are written as everywhere else, wherever they stand, and nothing else is changed", () => {
    const at = "2026-11-24T03:00:00.000Z";
    const detail = { due_at: at, reason: `since ${at}`, dues: [at, { next: "2026-11-24T03:00:00Z" }], count: 3, none: null, wrong: "2026-99-99T99:99:99Z" };
    expect(withLocalMoments(detail)).toEqual({ ...detail, due_at: localText(at), dues: [localText(at), { next: localText(at) }] });
  });
});
