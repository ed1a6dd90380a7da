import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { launchBrowser, openDashboard } from "../../support/browser/dashboard-browser.ts";
import { PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { HOSTILE_TEXT, watchPage } from "../../support/browser/hostile-answers.ts";
import { hostileRow } from "../../support/browser/hostile-rows.ts";
import { type TriedPage, tryPage } from "../../support/browser/tried-page.ts";
import { viewFolders } from "../../support/browser/viewed-folders.ts";
import { Workplace } from "../../support/cli/cli-process.ts";

const browserPath = findBrowser();
const HUGE = 10_000_000;
/** Elements of a page, however much it is about. */
const MOST_ELEMENTS = 500;

let place: Workplace;
let browser: Browser;
let address = "";

/** A hostile text that says where it stands. */
const bad = (where: string): string => `«${where}»${HOSTILE_TEXT}`;
/** Without what a file system, or a line of a log, does not take. */
const inLine = (where: string): string =>
  bad(where)
    .replaceAll("/", ":")
    .replaceAll(/[\p{Cc}\p{Zl}]/gu, "");
const named = (where: string): object => ({ [bad(where)]: bad(where) });
const numbers = (where: string): object => ({ [bad(where)]: 0.5 });

function folder(name: string, metadata: object, rows: readonly object[], log = ""): void {
  const path = join(place.folder, "outputs/evals", name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "metadata.json"), JSON.stringify(metadata));
  writeFileSync(join(path, "results.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  if (log !== "") writeFileSync(join(path, "eval.log"), log);
}

/** As a run's, each text and each name of it hostile, with a claim that these are the numbers of its rows. */
const texts = {
  ...{ name: bad("name"), env_id: bad("env_id"), model: inLine("model"), base_url: bad("base_url"), num_examples: 2, rollouts_per_example: 1 },
  ...{ env_args: named("env_args"), sampling_args: named("sampling_args"), extra_env_kwargs: named("extra"), reward_weights: numbers("weights") },
  ...{ avg_reward: 9, avg_metrics: numbers("average"), pass_at_k: numbers("pass_at_k"), pass_all_k: numbers("pass_all_k"), cluster_by: bad("cluster") },
  ...{
    version_info: { vf_version: bad("vf_version"), env_version: bad("version") },
    state_columns: [bad("column")],
    tools: [named("tools")],
    date: bad("date"),
  },
  edgewise: {
    ...{
      run_id: bad("run_id"),
      status: "COMPLETED",
      version: bad("version"),
      env_version: bad("version"),
      env_digest: bad("digest"),
      settings: named("settings"),
    },
    ...{ dataset_name: bad("dataset"), grouping_problem: bad("grouping"), cluster_by: bad("cluster"), rows_digest: { rows: 2 }, reward_ci95: [0, 1] },
  },
};
const rows = [
  { ...hostileRow(), example_id: 0, metrics: numbers("metric"), info: named("info") },
  { ...hostileRow(), example_id: bad("example"), metrics: numbers("metric"), info: named("info"), error: null },
];

/** Of the wrong kind in every place. */
function wrong(): readonly [metadata: object, rows: readonly object[]] {
  const odd: object = { [bad("odd")]: [bad("odd"), { toFixed: bad("odd") }] };
  const fields = [
    "prompt",
    "completion",
    "reward",
    "metrics",
    "error",
    "info",
    "answer",
    "task",
    "timing",
    "stop_condition",
    "token_usage",
    "tool_defs",
    "is_truncated",
  ];
  const oddRows = [odd, [odd], bad("odd"), -1e300, true].flatMap((value, at) => [
    { example_id: at, ...Object.fromEntries(fields.map((name) => [name, value])) },
    {
      ...hostileRow(),
      example_id: 10 + at,
      metrics: { [bad("metric")]: value },
      reward: 0.5,
      error: null,
      judge_response: value,
      completion: [{ role: value, content: value }],
    },
  ]);
  const metadata = {
    ...{ env_id: "wrong", model: "wrong", name: odd, base_url: odd, num_examples: 9e15, rollouts_per_example: odd, env_args: odd, sampling_args: odd },
    ...{ extra_env_kwargs: odd, reward_weights: bad("odd"), avg_reward: odd, avg_metrics: [odd], avg_error: odd, cluster_by: odd, pass_threshold: bad("odd") },
    ...{ pass_at_k: odd, pass_all_k: odd, usage: odd, version_info: bad("odd"), state_columns: odd, tools: bad("odd"), shuffle_seed: odd, reward_range: odd },
    ...{ time: 1e300, cost: odd },
    edgewise: {
      ...{ status: "COMPLETED", run_id: odd, version: odd, env_version: odd, env_digest: odd, rows_digest: { rows: oddRows.length }, reward_ci95: odd },
      ...{
        pass_at_k_ci95: odd,
        pass_all_k_ci95: odd,
        metric_estimates: odd,
        error_bounds: odd,
        corpus: odd,
        reward_range: odd,
        cluster_by: odd,
        settings: odd,
      },
      ...{ stopped_early: odd, response_models: odd, grouping_problem: odd, dataset_name: odd, n_not_run: odd, reward_stderr: odd, n_clusters: odd },
    },
  };
  return [metadata, oddRows];
}

beforeAll(async () => {
  if (browserPath === null) return;
  place = new Workplace();
  const line = (level: string): string => `2026-01-02 03:04:05 - ${inLine("logger").replaceAll(" ", "")} - ${level} - ${bad("log").replaceAll("\n", "")}\n`;
  folder(inLine("folder"), texts, rows, `${line("INFO")}${line("ERROR")}${HOSTILE_TEXT}\n`);
  const comparable = {
    ...texts,
    name: bad("second"),
    cluster_by: undefined,
    edgewise: { ...texts.edgewise, grouping_problem: undefined, cluster_by: undefined },
  };
  folder("second", comparable, rows, line("INFO"));
  folder(`${inLine("unnamed")}`, { ...comparable, name: undefined }, rows);
  folder("wrong", ...wrong(), `2026-99-99 99:99:99 - x - ERROR - ${bad("log").replaceAll("\n", "")}\n`);
  const huge = "ten megabytes ".repeat(Math.ceil(HUGE / 14)).slice(0, HUGE);
  const row = { ...{ example_id: 0, reward: 1, metrics: {}, answer: huge, info: { huge } }, prompt: [{ role: "user", content: huge }] };
  folder("huge", { env_id: "huge", model: "m", num_examples: 1, rollouts_per_example: 1 }, [{ ...row, completion: [{ role: "assistant", content: huge }] }]);
  ({ address } = await viewFolders(place));
  browser = await launchBrowser(browserPath);
}, 3 * PATIENCE_MS);
afterAll(async () => {
  await browser?.close();
  place?.remove();
});

interface Listed {
  readonly evaluation_id: string;
  readonly name: string;
}
/** Ids of those whose names have it. */
async function idsOf(text: string): Promise<readonly string[]> {
  const { evaluations } = (await (await fetch(`${address}/api/v1/evaluations`)).json()) as { evaluations: readonly Listed[] };
  return evaluations.filter(({ name }) => name.includes(text)).map(({ evaluation_id }) => evaluation_id);
}

describe.skipIf(browserPath === null)(`results folders of somebody hostile ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  /** Does `work` in one page, and holds it to no fault unseen. */
  const inPage = async (work: (page: Page) => Promise<void>): Promise<void> => {
    const { page, faults, close } = await openDashboard(browser, `${address}/dashboard/nowhere`);
    try {
      await watchPage(page);
      await work(page);
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  };
  const using = (pages: readonly TriedPage[]): Promise<void> =>
    inPage(async (page) => {
      for (const [path, ...more] of pages) await tryPage(page, `${address}/dashboard/${path}`, ...more);
    });

  it("run nothing by their names, metadata, numbers, rows and logs", async () => {
    const [id] = await idsOf("«name»");
    const [second] = await idsOf("«second»");
    const [unnamed] = await idsOf("«unnamed»");
    const rollout = `evaluations/${id}/samples/0/0`;
    await using([
      ["", "name second unnamed model"],
      [`evaluations/${id}`, "name model pass_at_k"],
      [`evaluations/${unnamed}?tab=files`, "unnamed"],
      [`evaluations/${id}?tab=metrics`, "metric"],
      [`evaluations/${id}?tab=errors`, "name"],
      [`evaluations/${id}?tab=settings`, "cluster env_args sampling_args dataset"],
      [`evaluations/${id}?tab=log`, "log logger"],
      [`evaluations/${id}/samples?tall=1`, "name metric example", ["Columns"]],
      [rollout, "name"],
      [`${rollout}?tab=scores`, "metric"],
      [`${rollout}?tab=info`, "info"],
      [`${rollout}?tab=json`, "info metric"],
      [`compare?runs=${unnamed},${second}&accept=1&at=1`, "unnamed second model metric"],
    ]);
  });

  it("are drawn though nothing in their files is of the kind that it should be, and hide no other folder", async () => {
    const [id] = await idsOf("wrong");
    await inPage(async (page) => {
      const drawn = async (path: string, text: string | RegExp): Promise<void> => {
        await tryPage(page, `${address}/dashboard/${path}`, "");
        await page.getByRole("main").getByText(text).first().waitFor();
      };
      await drawn("", "outputs/evals/huge");
      for (const tab of ["summary", "metrics", "errors", "settings", "log", "files"]) await drawn(`evaluations/${id}?tab=${tab}`, "outputs/evals/wrong");
      await drawn(`evaluations/${id}/samples?tall=1`, /rollouts/);
      for (const at of [0, 1, 2, 5, 6])
        for (const tab of ["messages", "scores", "usage", "info", "json"]) await drawn(`evaluations/${id}/samples/${at}/0?tab=${tab}`, "outputs/evals/wrong");
    });
  });

  it("with ten megabytes of text in each field of a row stay usable in the grid and in the rollout", async () => {
    const [id] = await idsOf("huge");
    await inPage(async (page) => {
      const isSmall = async (): Promise<void> => {
        expect(await page.evaluate<number>("document.querySelectorAll('*').length")).toBeLessThan(MOST_ELEMENTS);
        expect(await page.evaluate<number>("document.body.innerText.length")).toBeLessThan(HUGE / 10);
      };
      await tryPage(page, `${address}/dashboard/evaluations/${id}/samples?tall=1`, "");
      const cells = page.getByRole("gridcell", { name: /^ten megabytes/ });
      await expect.poll(() => cells.count(), { timeout: PATIENCE_MS }).toBe(3);
      await isSmall();
      await page.getByRole("link", { name: "0", exact: true }).click();
      await page.waitForURL(/samples\/0\/0/);
      await page.locator("article", { hasText: "ten megabytes" }).first().waitFor();
      await isSmall();
      await page
        .getByRole("button", { name: /more of 9,\d{3},\d{3} characters/ })
        .first()
        .click();
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await expect
        .poll(() => page.evaluate<string>("document.activeElement?.getAttribute('aria-label') ?? ''"), { timeout: PATIENCE_MS })
        .toBe("assistant, message 1");
      await isSmall();
      for (const tab of ["Scores", "Usage", "Info", "JSON", "Messages"]) {
        await page.getByRole("tab", { name: tab }).click();
        await page.getByRole("tabpanel").waitFor();
        await isSmall();
      }
      await page.keyboard.press("Escape");
      await page.waitForURL(/\/samples(?:\?|$)/);
    });
  });
});
