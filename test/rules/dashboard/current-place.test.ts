import { describe, expect, it } from "vitest";
import { currentAt } from "../../../src/dashboard/address/current-place.ts";
import {
  COMPARE,
  ENVIRONMENTS,
  environmentAddress,
  EVALUATORS,
  NEW_RUN,
  rolloutAddress,
  RUNS,
  runAddress,
  samplesAddress,
  SCHEDULES,
  scheduleAddress,
  SETTINGS,
} from "../../../src/dashboard/address/links.ts";

const PLACES = [RUNS, NEW_RUN, ENVIRONMENTS, SCHEDULES, COMPARE, EVALUATORS, SETTINGS];
const marks = (path: string): readonly string[] =>
  PLACES.flatMap((place) => (currentAt(path, place) === undefined ? [] : [`${currentAt(path, place)} ${place}`]));

describe("the place that the navigation marks", () => {
  it("is the page itself, or the one that a page below it belongs to, and never two", () => {
    expect(marks(RUNS)).toEqual([`page ${RUNS}`]);
    expect(marks("/dashboard")).toEqual([`page ${RUNS}`]);
    for (const path of [runAddress("0000abcd"), samplesAddress("0000abcd"), rolloutAddress("0000abcd", 3, 1)]) expect(marks(path)).toEqual([`true ${RUNS}`]);
    expect(marks(environmentAddress("acme/wiki"))).toEqual([`true ${ENVIRONMENTS}`]);
    expect(marks(scheduleAddress("new"))).toEqual([`true ${SCHEDULES}`]);
    for (const place of PLACES) expect(marks(place)).toEqual([`page ${place}`]);
    expect(marks("/dashboard/newer")).toEqual([]);
  });
});
