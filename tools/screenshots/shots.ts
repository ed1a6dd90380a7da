import type { Page } from "playwright-core";
import {
  COMPARE,
  ENVIRONMENTS,
  EVALUATORS,
  evaluatorAddress,
  NEW_RUN,
  RUNS,
  rolloutAddress,
  runAddress,
  SCHEDULES,
  SETTINGS,
  samplesAddress,
  scheduleAddress,
} from "../../src/dashboard/address/links.ts";
import { ROLLOUT_TABS } from "../../src/dashboard/pages/rollout/rollout-query.ts";
import { SETTINGS_TABS } from "../../src/dashboard/pages/settings/settings-tabs.ts";

/** What is looked at: a service with runs in it, one with nothing, results folders. */
export type ServiceName = "filled" | "empty" | "folders";

/** Runs of a service: one that is whole, the same at another temperature, one with errors, one that goes on, one of which nothing is done yet. */
export interface Ids {
  readonly whole: string;
  readonly other: string;
  readonly failing: string;
  readonly running: string;
  readonly waiting: string;
}

/** A picture: what its file is called, and the address of the page. */
export interface Shot {
  readonly name: string;
  readonly address: string;
  readonly service: ServiceName;
  /** Where it is not with what it shows: nothing has come yet, the service refuses, or is lost after all was there. */
  readonly state?: State;
  /** What somebody does to a page for it to ask again, once the service is lost. */
  readonly asks?: (page: Page) => Promise<unknown>;
}

export type State = "loading" | "failed" | "stale";

type Named = Pick<Shot, "name" | "address">;

/** Every page, with something on it, without anything, and before, without and after what it shows; those of folders too. */
export const shotsOf = (ids: Ids): readonly Shot[] => [
  // First what needs a run that goes on, before it is over.
  ...stale(ids).map((shot) => inState(shot, "stale")),
  ...filled(ids).map((shot) => ({ ...shot, service: "filled" as const })),
  ...pages(ids).flatMap((shot) => (["loading", "failed"] as const).map((state) => inState(shot, state))),
  ...empty(ids).map((shot) => ({ ...shot, name: `${shot.name}-empty`, service: "empty" as const })),
  ...folders(ids).map((shot) => ({ ...shot, name: `folders-${shot.name}`, service: "folders" as const })),
];

const inState = (shot: Named, state: State): Shot => ({ ...shot, name: `${shot.name}-${state}`, service: "filled", state });

const pages = ({ whole, other }: Ids): readonly Named[] => [
  { name: "runs", address: `${RUNS}?chosen=${whole},${other}` },
  { name: "run", address: runAddress(whole) },
  { name: "samples", address: samplesAddress(whole) },
  { name: "rollout", address: rolloutAddress(whole, 0, 0) },
  { name: "compare", address: `${COMPARE}?runs=${whole},${other}` },
  { name: "new-run", address: NEW_RUN },
  { name: "environments", address: ENVIRONMENTS },
  { name: "environment", address: `${ENVIRONMENTS}/arithmetic` },
  { name: "schedules", address: SCHEDULES },
  { name: "schedule", address: scheduleAddress("nightly") },
  { name: "evaluators", address: EVALUATORS },
  { name: "evaluator", address: evaluatorAddress("loop") },
  { name: "settings", address: SETTINGS },
];

const settings = SETTINGS_TABS.filter(({ id }) => id !== "me").map(({ id }) => ({
  name: `settings-${id}`,
  address: `${SETTINGS}?tab=${id}${id === "environment" ? "&environment=arithmetic" : ""}`,
}));

const filled = (ids: Ids): readonly Named[] => [
  { name: "run-live", address: runAddress(ids.running) },
  ...pages(ids),
  ...["metrics", "limits", "settings", "files"].map((tab) => ({ name: `run-${tab}`, address: `${runAddress(ids.whole)}?tab=${tab}` })),
  ...["errors", "log"].map((tab) => ({ name: `run-${tab}`, address: `${runAddress(ids.failing)}?tab=${tab}` })),
  { name: "samples-tall", address: `${samplesAddress(ids.failing)}?tall=1` },
  { name: "samples-attempts", address: `${samplesAddress(ids.whole)}?attempts=1` },
  { name: "samples-none", address: samplesAddress(ids.waiting) },
  ...ROLLOUT_TABS.slice(1).map((tab) => ({ name: `rollout-${tab}`, address: `${rolloutAddress(ids.whole, 0, 0)}?tab=${tab}` })),
  { name: "compare-transcripts", address: `${COMPARE}?runs=${ids.whole},${ids.other}&only=different&at=1` },
  { name: "compare-picker", address: COMPARE },
  { name: "new-run-again", address: `${NEW_RUN}?from=${ids.whole}` },
  ...settings,
  { name: "not-found", address: "/dashboard/nowhere" },
];

/** Pages that look again by themselves, or for what is done on them; the others show what was so when they were asked for. */
const stale = (ids: Ids): readonly Omit<Shot, "service">[] => [
  ...pages(ids).filter(({ name }) => ["runs", "schedules", "schedule", "evaluators", "evaluator"].includes(name)),
  { name: "run", address: runAddress(ids.running) },
  { name: "samples", address: samplesAddress(ids.running) },
  { name: "settings", address: `${SETTINGS}?tab=tokens` },
  {
    name: "compare",
    address: `${COMPARE}?runs=${ids.whole},${ids.other}`,
    asks: (page) => page.getByRole("combobox", { name: "Show" }).selectOption("better"),
  },
];

const empty = (ids: Ids): readonly Named[] => [
  ...pages(ids).filter(({ name }) => ["schedules", "evaluators"].includes(name)),
  { name: "runs", address: RUNS },
  { name: "runs-found", address: `${RUNS}?q=nothing+is+called+so` },
  { name: "compare", address: COMPARE },
  { name: "environment", address: `${ENVIRONMENTS}/arithmetic` },
  { name: "environments-found", address: `${ENVIRONMENTS}?q=nothing+is+called+so` },
  { name: "run-missing", address: runAddress("0000000a") },
  ...settings,
];

const folders = (ids: Ids): readonly Named[] => [
  { name: "runs", address: RUNS },
  ...pages(ids).filter(({ name }) => ["run", "samples", "rollout", "compare"].includes(name)),
  { name: "not-found", address: SCHEDULES },
];
