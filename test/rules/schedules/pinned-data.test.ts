import { expect, test } from "vitest";
import { RuleRun } from "../../support/run/rule-run.ts";

const DUE = Date.parse("2026-11-22T03:00:00Z");
const scheduled = (dataset_digest?: string): RuleRun =>
  new RuleRun({ num_examples: 4, schedule: { name: "nightly", due_at: DUE, ...(dataset_digest === undefined ? {} : { dataset_digest }) } });

test("a run whose data are others than those that its schedule pinned ends before a model is asked", () => {
  const run = scheduled("the first run's");
  run.pin(4, { digest: "another" });
  expect(run.head).toMatchObject({ status: "FAILED", failure: { code: "dataset_changed" }, dataset_digest: "another", done: 0 });
});

test("one with the same data, or whose schedule takes the latest, is open", () => {
  for (const pinned of ["the same", undefined]) {
    const run = scheduled(pinned);
    run.pin(4, { digest: "the same" });
    expect(run.head).toMatchObject({ status: "RUNNING", phase: "open", n: 4 });
  }
});

test("data that come in parts are compared when all of them are there", () => {
  const run = scheduled("all of it");
  const grant = run.pin(2, { digest: "a part", more: true });
  expect(run.head).toMatchObject({ status: "RUNNING", phase: "open" });
  run.pin(4, { digest: "all of it", grant, from: 2 });
  expect(run.head).toMatchObject({ status: "RUNNING", n: 4 });
});
