import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SETTINGS_TABS } from "../../../src/dashboard/pages/settings/settings-tabs.ts";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { HOSTILE_TEXT, infectAnswers, seenIn, watchPage } from "../../support/browser/hostile-answers.ts";
import { type TriedPage, tryPage } from "../../support/browser/tried-page.ts";
import { until } from "../../support/cli/cli-process.ts";

const browserPath = findBrowser();
/** Of one of each thing that has a name. */
const NAME = "nightly";
/** In an address, and in the line in which filters are typed, there are no line ends. */
const IN_LINE = HOSTILE_TEXT.replaceAll(/[\n\u2028]/g, "");

let place: DashboardPlace;
/** A run that was played, with a rollout that failed. */
let id = "";
/** One of the schedule. */
let other = "";
/** One whose metrics and keys are called what they like. */
let pushed = "";

const put = (path: string, body: object): Promise<unknown> => place.ask(path, { method: "PUT", body });
const post = <T>(path: string, body: object = {}): Promise<T> => place.ask<T>(path, { method: "POST", body });

/** Something of every kind that a team keeps. */
async function keepSome(): Promise<void> {
  const asked = { env_id: "reverse-text", num_examples: 3, rollouts_per_example: 1, api_base_url: place.model.url, api_key_var: "PRIME_API_KEY" };
  await put(`/schedules/${NAME}`, { every: "30d", drift: { first: 1 }, eval: { ...asked, model: "scripted" } });
  await post(`/schedules/${NAME}/run`);
  await put(`/evaluators/${NAME}`, { run_every: 50, evaluations: [{ name: "texts", eval: asked }] });
  await post(`/evaluators/${NAME}/steps`, { step: 49, model: "ckpt-50" });
  await put(`/alerts/${NAME}`, { to: "webhook", url: `${place.model.url}/hook` });
  await post(`/alerts/${NAME}/test`);
  await put(`/monitors/${NAME}`, { every: "5m" });
  await put(`/limits/given/${NAME}`, { url: place.model.url, concurrent: 8 });
  await put("/budgets/team", { day: 1_000 });
  await put(`/baselines/${NAME}`, { run_id: id });
  await post("/tokens", { name: NAME, scopes: ["runs:read"] });
  await post("/secrets/", { name: "JUDGE_API_KEY", value: "of-nobody", hosts: ["api.example.com"] });
  await post("/endpoints", { endpoint: [{ endpoint_id: NAME, model: "m", url: place.model.url, key: "PRIME_API_KEY" }] });
  await post("/environmentshub/arithmetic/variables", { name: "LEVEL", value: "hard" });
  const series = async () => (await place.ask<{ data: { series: readonly { run_id: string; status: string | null }[] } }>(`/schedules/${NAME}`)).data.series;
  await until(
    async () => {
      const { data } = await place.ask<{ data: { records: readonly { outcome: string }[] } }>(`/evaluators/${NAME}`);
      return data.records.some(({ outcome }) => outcome === "evaluated") && (await series()).some(({ status }) => status !== null);
    },
    PATIENCE_MS,
    () => "the runs of the schedule and of the evaluator",
  );
  other = (await series())[0]?.run_id ?? "";
}

async function publish(): Promise<void> {
  const folder = join(place.workplace.folder, "worth");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(place.workplace.folder, "package.json"), '{"type": "module"}');
  writeFileSync(
    join(folder, "worth.ts"),
    `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({ id: "worth", version: "1.0.0", description: "Is worth something.", args: z.object({ depth: z.string().default("deep").describe("How deep.") }),
  hosts: ["api.example.com"], keys: ["SEARCH_KEY"], load: () => new SingleTurnEnv({ dataset: [{ question: "one" }], rubric: new Rubric([function worth() { return 1; }]) }) });
`,
  );
  writeFileSync(join(folder, "README.md"), "# Of worth\n\nIs *worth* reading.\n");
  const { code, stderr } = await place.workplace.run(["env", "push", "./worth"]);
  if (code !== 0) throw new Error(stderr);
}

async function push(): Promise<void> {
  const { evaluation_id } = await post<{ evaluation_id: string }>("/evaluations/", {
    name: "pushed",
    environments: [{ id: "elsewhere" }],
    model_name: "m",
    metrics: { metrics: { [IN_LINE]: 9 } },
  });
  const samples = [0, 1].map((example_id) => ({
    ...{ example_id, answer: "a", reward: example_id, metrics: { [IN_LINE]: example_id }, info: { [HOSTILE_TEXT]: HOSTILE_TEXT } },
    ...{ prompt: [{ role: "user", content: "asked" }], completion: [{ role: "assistant", content: "answered" }], [HOSTILE_TEXT]: HOSTILE_TEXT },
  }));
  await post(`/evaluations/${evaluation_id}/samples`, { samples });
  await post(`/evaluations/${evaluation_id}/finalize`);
  await place.settled(evaluation_id);
  pushed = evaluation_id;
}

beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath);
  place.model.setScript({ answer: "reverse", faults: [{ when: { nth: 2 }, fault: { kind: "status", status: 400, message: "It is refused." } }] });
  id = await place.create({ name: "named", examples: 3, config: { max_retries: 0, max_concurrent: 1, tags: ["tagged"] } });
  await place.settled(id);
  await publish();
  await keepSome();
  await push();
}, 3 * PATIENCE_MS);
afterAll(() => place?.close());

const WHOSE = "name metadata.env_id metadata.model edgewise.created_by tags";

describe.skipIf(browserPath === null)(`answers in which every text is hostile ${NEEDS_BROWSER}`, { timeout: 5 * PATIENCE_MS }, () => {
  const looking = async (pages: readonly TriedPage[], expected?: RegExp): Promise<void> => {
    const faults = await place.faultsOf(async () => {
      const { page } = await place.open("nowhere", {}, expected);
      await infectAnswers(page);
      for (const [address, ...more] of pages) await tryPage(page, `${place.service}/dashboard/${address}`, ...more);
    });
    expect(faults).toEqual([]);
  };

  it("run nothing on the pages of runs, and act neither there nor in what is copied", () =>
    looking([
      ["", "evaluations.name evaluations.metadata.env_id evaluations.metadata.model evaluations.edgewise.created_by evaluations.tags"],
      [`evaluations/${id}`, WHOSE, ["Delete", "Share", "JSON"]],
      [`evaluations/${id}?tab=metrics`, WHOSE],
      [`evaluations/${id}?tab=errors`, "errors.first.message"],
      [`evaluations/${id}?tab=limits`, WHOSE],
      [`evaluations/${id}?tab=settings`, "edgewise.response_models.seen.model eval_config.sampling_args.* eval_config.tags"],
      [`evaluations/${id}?tab=log`, "text"],
      [`evaluations/${id}?tab=files`, WHOSE],
      [`evaluations/${pushed}`, "name edgewise.pushed.differences.name"],
      [`evaluations/${pushed}?tab=metrics`, "name"],
      [`evaluations/${other}`, "name edgewise.schedule.name"],
    ]));

  it("run nothing in the grid, its columns and its filter, and on the page of a rollout", () =>
    looking([
      [`evaluations/${id}/samples?tall=1`, "name previews.values.prompt previews.values.completion previews.values.answer", ["Columns"]],
      [`evaluations/${id}/samples?attempts=1`, "name"],
      [`evaluations/${id}/samples/0/1`, "name messages.role messages.message.content"],
      [`evaluations/${pushed}/samples`, "name previews.values.answer", ["Columns"]],
      [`evaluations/${pushed}/samples/0/0?tab=scores`, "fields.answer"],
      [`evaluations/${pushed}/samples/0/0?tab=info`, "fields.info.*"],
      [`evaluations/${pushed}/samples/0/0?tab=json`, "answer info.*"],
    ]));

  it("run nothing where runs are compared, planned and watched", () =>
    looking(
      [
        [`compare?runs=${id},${other}&at=1`, "model_name comparisons.warnings samples.prompt.content samples.completion.role"],
        [`compare?runs=${id},${pushed}`, "detail hint"],
        ["environments", "data.name data.description"],
        [
          "environments/edgewise%2Fworth",
          "description text metadata.args.name metadata.args.default metadata.args.description metadata.keys metadata.hosts data.created_by",
        ],
        ["schedules", "data.name data.definition.eval.env_id data.definition.eval.model"],
        [
          `schedules/${NAME}`,
          "data.definition.drift.metric data.definition.time_zone data.created_by data.name",
          ["Run now", "Pause", "Reset drift", "Delete"],
        ],
        ["evaluators", "data.name data.definition.evaluations.name data.last.model"],
        [`evaluators/${NAME}`, "data.advice.metric data.advice.best.model data.records.evaluation data.created_by data.name", ["Run now", "Pause", "Delete"]],
        [`new?environment=arithmetic`, "metadata.args.name metadata.args.default options.name options.help data.endpoint_id"],
        [`new?from=${id}`, "name metadata.env_id detail hint options.name"],
      ],
      /404|422/,
    ));

  it("run nothing of a linked environment, whose name stands in the address too", async () => {
    const facts = {
      version: "second",
      description: "It is linked.",
      digest: "none",
      defaults: { num_examples: 4 },
      keys: ["SEARCH_KEY"],
      hosts: ["a.example"],
    };
    const args = ["string", "integer"].map((type) => ({
      name: `of ${type}`,
      schema: { type, enum: ["a", "b"] },
      default: "a",
      required: false,
      description: "One.",
    }));
    const found = {
      name: "wiki",
      urls: ["https://env.example"],
      environment: "wiki",
      linked_at: new Date().toISOString(),
      linked_by: "ada",
      command: null,
    };
    const link = { ...facts, ...found, args, lease_until: null };
    const faults = await place.faultsOf(async () => {
      const { page } = await place.open("nowhere", {}, /404|422/);
      await infectAnswers(page, IN_LINE);
      await page.route("**/api/v1/environments/linked", (route) => route.fulfill({ json: { data: [link] } }));
      const servers = [{ url: "https://env.example", state: "unreachable", problem: "It is not there." }];
      await page.route("**/api/v1/environments/linked/*", (route) => route.fulfill({ json: { data: { ...link, servers } } }));
      const name = encodeURIComponent(`«data.name»wiki${IN_LINE}`);
      const told = "data.name data.description data.args.name data.args.description data.args.default";
      await tryPage(
        page,
        `${place.service}/dashboard/environments/${name}`,
        `${told} data.keys data.hosts data.version data.digest data.linked_by data.servers.problem data.servers.url`,
      );
      await tryPage(page, `${place.service}/dashboard/new?environment=${name}`, told);
    });
    expect(faults).toEqual([]);
  });

  it("run nothing in any part of the settings", () => {
    const settings: Readonly<Record<(typeof SETTINGS_TABS)[number]["id"], readonly [shows: string, asks?: readonly string[]]>> = {
      me: ["data.name data.edgewise.teams"],
      tokens: ["data.name data.user data.teams", ["Revoke"]],
      secrets: ["data.name data.hosts data.createdBy", ["Delete"]],
      environment: ["data.name data.value"],
      alerts: ["data.name data.last.text", ["Test", "New secret", "Delete"]],
      monitors: ["data.name data.created_by", ["Pause", "New address", "Delete"]],
      endpoints: ["data.endpoint_id data.model data.replicas.api_key_var data.updated_by"],
      limits: ["data.model_class data.api_key_var data.name data.updated_by"],
      budgets: ["data.updated_by"],
      cache: [""],
      baselines: ["data.name data.updated_by"],
      team: ["data.team data.members.user"],
      audit: ["data.user data.action data.target"],
    };
    return looking(SETTINGS_TABS.map(({ id: tab }) => [`settings?tab=${tab}&environment=arithmetic`, ...settings[tab]]));
  });

  it("run nothing in the palette and among what a filter may say", async () => {
    const faults = await place.faultsOf(async () => {
      const { page } = await place.open("nowhere");
      await infectAnswers(page);
      await page.goto(`${place.service}/dashboard/evaluations/${pushed}/samples`);
      await page.getByRole("columnheader", { name: /script/ }).waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("script");
      await page
        .getByRole("option", { name: /script/ })
        .first()
        .waitFor();
      expect((await seenIn(page)).faults).toEqual([]);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      await page.keyboard.type("= 1");
      await page.getByText(/^1 found of 2/).waitFor();
      await page.keyboard.press("Control+k");
      await expect.poll(async () => (await seenIn(page)).places, { timeout: PATIENCE_MS }).toContain("evaluations.name");
      expect((await seenIn(page)).faults).toEqual([]);
      await page
        .getByRole("option", { name: /script/ })
        .first()
        .click();
      await page.waitForURL(/evaluations\/[0-9a-f]{8}$/);
    });
    expect(faults).toEqual([]);
  });

  it("are refused at the door where they are to be names, and the page says so in words that do not act", async () => {
    const name = encodeURIComponent(IN_LINE);
    const eval_ = { env_id: "reverse-text", model: "m", num_examples: 1 };
    const refused: readonly (readonly [method: string, path: string, body: object])[] = [
      ["PUT", `/schedules/${name}`, { every: "30d", eval: eval_ }],
      ["PUT", `/evaluators/${name}`, { run_every: 50, evaluations: [{ name: "texts", eval: eval_ }] }],
      ["PUT", `/evaluators/other`, { run_every: 50, evaluations: [{ name: IN_LINE, eval: eval_ }] }],
      ["PUT", `/alerts/${name}`, { to: "webhook", url: `${place.model.url}/hook` }],
      ["PUT", `/monitors/${name}`, { every: "5m" }],
      ["PUT", `/limits/given/${name}`, { url: place.model.url, concurrent: 8 }],
      ["PUT", `/baselines/${name}`, { run_id: id }],
      ["POST", "/secrets/", { name: IN_LINE, value: "of-nobody" }],
      ["POST", "/environmentshub/arithmetic/variables", { name: IN_LINE, value: "hard" }],
      ["POST", "/endpoints", { endpoint: [{ endpoint_id: IN_LINE, model: "m", url: place.model.url, key: "PRIME_API_KEY" }] }],
      ["POST", "/hosted-evaluations", { environment_ids: [IN_LINE], inference_model: "m" }],
      ["POST", "/hosted-evaluations", { environment_ids: ["reverse-text"], inference_model: "m", name: IN_LINE }],
      ["POST", "/hosted-evaluations", { environment_ids: ["reverse-text"], inference_model: "m", eval_config: { tags: [IN_LINE] } }],
    ];
    for (const [method, path, body] of refused) await expect(place.ask(path, { method, body }), path).rejects.toThrow(`${method} ${path}: 422`);
    const faults = await place.faultsOf(async () => {
      const { page } = await place.open("nowhere", {}, /422/);
      await watchPage(page);
      for (const [tab, verb, fields] of [
        ["alerts", "Keep the alert", { Address: `${place.model.url}/hook` }],
        ["monitors", "Keep the monitor", { "A beat each": "5m" }],
      ] as const) {
        await page.goto(`${place.service}/dashboard/settings?tab=${tab}`);
        await page.getByLabel("Name", { exact: true }).fill(IN_LINE.slice(0, 64));
        for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
        await page.getByRole("button", { name: verb }).click();
        await page.getByRole("alert").getByText("1 to 64 letters").waitFor();
        expect((await seenIn(page)).faults, tab).toEqual([]);
      }
    });
    expect(faults).toEqual([]);
  });
});
