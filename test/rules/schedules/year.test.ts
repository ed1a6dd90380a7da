import { describe, expect, test } from "vitest";
import { cronProblem, nextCron } from "../../../src/schedules/cron.ts";
import { instantOf, isTimeZone, localOf } from "../../../src/schedules/local-time.ts";
import { beginningOf, nextDue, nextDues } from "../../../src/schedules/due-times.ts";

const MINUTE = 60_000;
const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);
const at = (text: string): number => Date.parse(`${text}Z`);

function between(cron: string, zone: string, from: string, to: string): string[] {
  const found: string[] = [];
  for (let due = nextCron(cron, zone, at(from) - 1); due !== null && due <= at(to); due = nextCron(cron, zone, due)) found.push(iso(due));
  return found;
}

/** What a field of a pattern holds; of its own, so that the library is not held against itself. */
function values(field: string, low: number, high: number): ReadonlySet<number> {
  const all = field.split(",").flatMap((part) => {
    const [range = "*", step = "1"] = part.split("/");
    const [first, last = first] = range === "*" ? [low, high] : range.split("-").map(Number);
    const found: number[] = [];
    for (let value = first ?? low; value <= (last ?? high); value += Number(step)) found.push(value);
    return found;
  });
  return new Set(all);
}

/**
 * Every due time of a year by looking at each of its minutes: a local time that a clock of the zone shows counts at its first instant, and one that it
 * never shows at the minute after the change.
 */
function yearOf(cron: string, readings: readonly number[], year: number): number[] {
  const [minute = "*", hour = "*", day = "*", month = "*", weekday = "*"] = cron.split(" ");
  const [minutes, hours, days, months, weekdays] = [
    values(minute, 0, 59),
    values(hour, 0, 23),
    values(day, 1, 31),
    values(month, 1, 12),
    values(weekday, 0, 6),
  ];
  const isDue = (local: number): boolean => {
    const date = new Date(local);
    const onDay = days.has(date.getUTCDate());
    const onWeekday = weekdays.has(date.getUTCDay());
    const dayFits = day === "*" || weekday === "*" ? onDay && onWeekday : onDay || onWeekday;
    return minutes.has(date.getUTCMinutes()) && hours.has(date.getUTCHours()) && months.has(date.getUTCMonth() + 1) && dayFits;
  };
  const dues = new Set<number>();
  let shown = readings[0] ?? 0;
  for (const [index, local] of readings.entries()) {
    if (index === 0) continue;
    for (let skipped = shown + MINUTE; skipped <= local; skipped += MINUTE) if (isDue(skipped)) dues.add(Date.UTC(year, 0, 1) + (index - 1) * MINUTE);
    shown = Math.max(shown, local);
  }
  return [...dues];
}

/** What a clock of the zone reads at each minute of a year, the minute before it first. */
function readingsOf(zone: string, year: number): number[] {
  const readings: number[] = [];
  const hour = 60 * MINUTE;
  for (let instant = Date.UTC(year, 0, 1) - MINUTE; instant < Date.UTC(year + 1, 0, 1); instant += hour) {
    const first = localOf(instant, zone);
    const even = localOf(instant + hour, zone) === first + hour;
    for (let minute = 0; minute < 60; minute += 1) readings.push(even ? first + minute * MINUTE : localOf(instant + minute * MINUTE, zone));
  }
  return readings.slice(0, (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / MINUTE + 1);
}

/** One zone for each kind of rule: none, north, south, half an hour, a change at midnight, days of odd lengths, a zone ahead of UTC by 14 hours. */
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Europe/London",
  "America/New_York",
  "America/Santiago",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "Asia/Kolkata",
  "Africa/Casablanca",
  "Africa/Cairo",
  "Asia/Beirut",
  "Pacific/Kiritimati",
  "America/St_Johns",
];
const PATTERNS = ["30 2 * * *", "0 0 * * *", "*/20 0-4 * * *", "0 3 31 * *", "0 9 29 2 *", "30 1 * * 0", "5 0 1 * 1", "0 */6 * 3,10 *", "45 23 28-31 * *"];

describe("a simulated year", () => {
  test.each(ZONES)("of %s has every due time of every pattern once, whenever one looks", { timeout: 60_000 }, (zone) => {
    const readings = readingsOf(zone, 2028);
    for (const cron of PATTERNS) {
      const wanted = yearOf(cron, readings, 2028);
      const from = Date.UTC(2028, 0, 1) - 1;
      const found: number[] = [];
      for (let due = nextCron(cron, zone, from); due !== null && due < Date.UTC(2029, 0, 1); due = nextCron(cron, zone, due)) found.push(due);
      expect(found.map(iso), `${cron} in ${zone}`).toEqual(wanted.map(iso));
      // Whoever looks at any other moment sees the same next one.
      for (let index = 0; index < 60; index += 1) {
        const moment = from + index * 146 * 60 * MINUTE + index * 7 * MINUTE;
        const next = wanted.find((due) => due > moment);
        if (next !== undefined) expect(nextCron(cron, zone, moment)).toBe(next);
      }
    }
  });

  test("a local time that does not exist fires once, when the clock is set forward over it", () => {
    expect(between("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00", "2026-03-31T00:00")).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
    expect(between("0 0 * * *", "America/Sao_Paulo", "2018-11-03T00:00", "2018-11-06T00:00")).toEqual([
      "2018-11-03T03:00",
      "2018-11-04T03:00",
      "2018-11-05T02:00",
    ]);
    expect(between("*/30 2 * * *", "America/New_York", "2026-03-08T00:00", "2026-03-08T23:00")).toEqual(["2026-03-08T07:00"]);
  });

  test("a local time that comes twice fires once, the first time", () => {
    expect(between("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", "2026-10-26T12:00")).toEqual(["2026-10-25T00:30", "2026-10-26T01:30"]);
    expect(between("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00", "2026-10-25T02:00")).toEqual([
      "2026-10-25T00:00",
      "2026-10-25T00:30",
      "2026-10-25T02:00",
    ]);
    // Also for who looks while it comes the second time.
    expect(iso(nextCron("30 2 * * *", "Europe/Berlin", at("2026-10-25T01:10")) ?? 0)).toBe("2026-10-26T01:30");
  });

  test("the 31st comes in seven months, and the 29th of February in leap years", () => {
    expect(between("0 9 31 * *", "UTC", "2027-01-01T00:00", "2027-12-31T23:00").map((due) => due.slice(5, 7))).toEqual([
      "01",
      "03",
      "05",
      "07",
      "08",
      "10",
      "12",
    ]);
    expect(between("0 9 29 2 *", "Asia/Tokyo", "2026-01-01T00:00", "2034-01-01T00:00")).toEqual(["2028-02-29T00:00", "2032-02-29T00:00"]);
  });

  test("a day that a zone left out counts at the moment after it", () => {
    // Samoa had no 30 December 2011.
    expect(between("0 12 * * *", "Pacific/Apia", "2011-12-29T00:00", "2012-01-01T00:00")).toEqual([
      "2011-12-29T22:00",
      "2011-12-30T10:00",
      "2011-12-30T22:00",
      "2011-12-31T22:00",
    ]);
  });

  test("every instant is that of its local time, but for local times that came before", () => {
    for (const zone of ZONES)
      for (let instant = Date.UTC(2027, 2, 1); instant < Date.UTC(2027, 10, 30); instant += 397 * MINUTE) {
        const first = instantOf(localOf(instant, zone), zone);
        expect(first).toBeLessThanOrEqual(instant);
        expect(localOf(first, zone)).toBe(localOf(instant, zone));
      }
  });
});

describe("what is no schedule", () => {
  test.each(["", "* * * *", "0 0 * * * *", "61 * * * *", "0 0 30 2 *", "@reboot", "@every 5m", "0 0 ? * MON", "5-1 * * * *", "2026-01-01T00:00:00"])(
    "%j is refused with a reason",
    (cron) => {
      expect(cronProblem(cron)).toMatch(/five fields|never comes/);
    },
  );
  test("shorthands and names are patterns", () => {
    for (const cron of ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "0 0 * JAN mon-fri"]) expect(cronProblem(cron)).toBeNull();
  });
  test("zones are those of the IANA database", () => {
    expect(["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires"].every(isTimeZone)).toBe(true);
    expect(["Europe/Nowhere", "", "+02:00", "Berlin time", "CET;rm"].some(isTimeZone)).toBe(false);
  });
});

describe("an interval", () => {
  const every = { every: "6h", time_zone: "UTC" };
  test("counts from its anchor, whoever looks when", () => {
    expect(nextDues(every, at("2026-01-01T01:00"), at("2026-01-01T01:00"), 3).map(iso)).toEqual(["2026-01-01T07:00", "2026-01-01T13:00", "2026-01-01T19:00"]);
    expect(iso(nextDue(every, at("2026-01-01T01:00"), at("2026-01-03T06:59")) ?? 0)).toBe("2026-01-03T07:00");
    expect(iso(nextDue(every, at("2026-01-01T01:00"), at("2026-01-03T07:00")) ?? 0)).toBe("2026-01-03T13:00");
  });
  test("nothing is due after until", () => {
    const ending = { ...every, until: "2026-01-01T13:00:00.000Z" };
    expect(nextDues(ending, at("2026-01-01T01:00"), at("2026-01-01T01:00"), 5).map(iso)).toEqual(["2026-01-01T07:00", "2026-01-01T13:00"]);
  });
  test("jitter is the same for the same due time, spread over its span, and never before the due time", () => {
    const dues = nextDues({ ...every, jitter: "10m" }, 0, 0, 500);
    const waits = dues.map((due) => beginningOf(due, { ...every, jitter: "10m" }, "nightly") - due);
    expect(waits).toEqual(dues.map((due) => beginningOf(due, { ...every, jitter: "10m" }, "nightly") - due));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10 * MINUTE);
    for (let part = 0; part < 10; part += 1) expect(waits.filter((wait) => Math.floor(wait / MINUTE) === part).length).toBeGreaterThan(20);
    expect(dues.some((due) => beginningOf(due, { ...every, jitter: "10m" }, "nightly") !== beginningOf(due, { ...every, jitter: "10m" }, "weekly"))).toBe(true);
  });
});
