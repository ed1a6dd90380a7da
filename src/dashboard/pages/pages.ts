import type { AnyComponent } from "preact";
import { COMPARE, ENVIRONMENTS, EVALUATORS, NEW_RUN, ROLLOUT_PATH, RUNS, RUN_PATH, SAMPLES_PATH, SCHEDULES, SETTINGS } from "../address/links.ts";
import type { Viewer } from "../viewer.ts";
import { loadedPage } from "./loaded-page.ts";

/** A page of the dashboard: where it is, what draws it, and whether one goes there from everywhere. */
export interface DashboardPage {
  /** As preact-iso's router reads it: `:name` is a part of the path. */
  readonly path: string;
  /** Loaded when the page is opened. */
  readonly component: AnyComponent;
  /** Of a page that stands in the navigation, in this order; `key`: behind `g`. */
  readonly place?: { readonly name: string; readonly key: string };
  /** There is such a page of results folders too, which have runs and nothing else. */
  readonly ofFolders?: true;
}

/** Every page. What is not built is not here. */
export const PAGES: readonly DashboardPage[] = [
  {
    path: RUNS,
    component: loadedPage(() => import("./runs/runs-page.tsx").then((module) => module.RunsPage)),
    place: { name: "Runs", key: "r" },
    ofFolders: true,
  },
  { path: RUN_PATH, component: loadedPage(() => import("./run/run-page.tsx").then((module) => module.RunPage)), ofFolders: true },
  {
    path: NEW_RUN,
    component: loadedPage(() => import("./new-run/new-run-page.tsx").then((module) => module.NewRunPage)),
    place: { name: "New run", key: "n" },
  },
  {
    path: ENVIRONMENTS,
    component: loadedPage(() => import("./environments/environments-page.tsx").then((module) => module.EnvironmentsPage)),
    place: { name: "Environments", key: "e" },
  },
  { path: `${ENVIRONMENTS}/:reference`, component: loadedPage(() => import("./environments/environment-page.tsx").then((module) => module.EnvironmentPage)) },
  { path: SAMPLES_PATH, component: loadedPage(() => import("./samples/samples-page.tsx").then((module) => module.SamplesPage)), ofFolders: true },
  {
    path: SCHEDULES,
    component: loadedPage(() => import("./schedules/schedules-page.tsx").then((module) => module.SchedulesPage)),
    place: { name: "Schedules", key: "s" },
  },
  { path: `${SCHEDULES}/:name`, component: loadedPage(() => import("./schedules/schedule-page.tsx").then((module) => module.SchedulePage)) },
  {
    path: COMPARE,
    component: loadedPage(() => import("./compare/compare-page.tsx").then((module) => module.ComparePage)),
    place: { name: "Compare", key: "c" },
    ofFolders: true,
  },
  { path: ROLLOUT_PATH, component: loadedPage(() => import("./rollout/rollout-page.tsx").then((module) => module.RolloutPage)), ofFolders: true },
  {
    path: EVALUATORS,
    component: loadedPage(() => import("./evaluators/evaluators-page.tsx").then((module) => module.EvaluatorsPage)),
    place: { name: "Evaluators", key: "v" },
  },
  { path: `${EVALUATORS}/:name`, component: loadedPage(() => import("./evaluators/evaluator-page.tsx").then((module) => module.EvaluatorPage)) },
  {
    path: SETTINGS,
    component: loadedPage(() => import("./settings/settings-page.tsx").then((module) => module.SettingsPage)),
    place: { name: "Settings", key: "," },
  },
];

/** Those that there are for who looks. */
export const pagesFor = ({ folders }: Viewer): readonly DashboardPage[] => (folders === "" ? PAGES : PAGES.filter(({ ofFolders }) => ofFolders === true));
