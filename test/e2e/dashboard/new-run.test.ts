import { execFileSync } from "node:child_process";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
/** What whoever writes an environment may call an argument, and say of it. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202e' $(touch taken)`;

let place: DashboardPlace;

interface Run {
  readonly name: string;
  readonly model_name: string;
  readonly eval_config: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly env_id: string };
  readonly edgewise: { readonly settings: object };
}
const runAt = (id: string): Promise<Run> => place.ask<Run>(`/evaluations/${id}`);
const total = async (): Promise<number> => (await place.ask<{ total: number }>("/evaluations/?limit=1")).total;

/** The id of the run whose page is opened. */
async function started(page: Page): Promise<string> {
  await page.waitForURL(/\/dashboard\/evaluations\/[0-9a-f]{8}$/);
  return new URL(page.url()).pathname.split("/").at(-1) ?? "";
}
const scripted = async (page: Page): Promise<void> => {
  await field(page, "Where the model is").selectOption("address");
  await field(page, "Model (required)").fill("scripted");
  await field(page, "API base URL").fill(place.model.url);
  await field(page, "API key var").fill("PRIME_API_KEY");
};
/** What a shell gives to the program of a command: `EDGEWISE_URL`, and its words. */
const wordsOf = (program: string, command: string): readonly string[] =>
  execFileSync("/bin/sh", ["-c", `${program}() { printf '%s\\0' "$EDGEWISE_URL" "$@"; }; ${command}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const focusedId = (page: Page): Promise<string> => page.evaluate<string>("document.activeElement?.id ?? ''");
const start = (page: Page): Promise<void> => page.getByRole("button", { name: "Start the run" }).click();

beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`the page of a new run ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };

  it("offers the models that the server of the place lists, once somebody is about to name one", () =>
    closing(async () => {
      const { page } = await place.open("new");
      const asked: string[] = [];
      await page.route("**/api/v1/models?*", async (route) => {
        asked.push(new URL(route.request().url()).searchParams.get("api_base_url") ?? "");
        const listed = asked.length === 1 ? { data: [HOSTILE, "from/the-server"], problem: null } : { data: [], problem: `It has ${HOSTILE}.` };
        await route.fulfill({ json: { more: false, ...listed } });
      });
      await field(page, "Where the model is").selectOption("address");
      await field(page, "API base URL").fill("https://models.example/v1");
      await field(page, "API base URL").fill(place.model.url);
      const model = field(page, "Model (required)");
      await model.focus();
      await page.getByText("The server lists 2.").waitFor();
      const offers = await model.evaluate((input: { readonly list: { readonly options: Iterable<{ readonly value: string }> } }) =>
        [...input.list.options].map(({ value }) => value),
      );
      expect(offers).toEqual(expect.arrayContaining([HOSTILE, "from/the-server"]));
      expect(asked).toEqual([place.model.url]);
      await field(page, "API base URL").fill(`${place.model.url}/other`);
      await model.focus();
      await page.getByText("Its models are not known: It has <img").waitFor();
      expect(await page.title()).not.toBe("taken");
      // As it is: whatever the server is, a name can be typed.
      await page.unroute("**/api/v1/models?*");
      await field(page, "API base URL").fill(place.model.url);
      await model.focus();
      await page.getByText("The server lists 1.").waitFor();
      await model.fill("any/name");
    }));

  it("starts a run that is filled in from the empty list of runs, tells what it will take before, and leads to it until it is complete", () =>
    closing(async () => {
      const { page } = await place.open();
      await page.getByRole("link", { name: "New run" }).last().click();
      await field(page, "Environment (required)").selectOption("reverse-text");
      await scripted(page);
      await field(page, "Num examples").fill("3");
      await field(page, "Rollouts per example").fill("2");
      await field(page, "Eval name").fill("from the form");
      await field(page, "Temperature").fill("0.5");
      await page.getByText("3 examples × 2 rollouts = 6 rollouts").waitFor();
      expect(await page.getByRole("region", { name: "What it will take" }).textContent()).toContain("no run of these settings has finished");
      await start(page);
      const id = await started(page);
      await place.settled(id);
      const run = await runAt(id);
      expect(run).toMatchObject({
        ...{ name: "from the form", model_name: "scripted", metadata: { env_id: "reverse-text" } },
        eval_config: { num_examples: 3, rollouts_per_example: 2, sampling_args: { temperature: 0.5 }, api_base_url: place.model.url },
      });
      expect(await place.ask(`/evaluations/${id}`)).toMatchObject({ status: "COMPLETED", edgewise: { done_rollouts: 6 } });
    }));

  it("tells tokens and money from finished runs of the same settings, with their interval", () =>
    closing(async () => {
      await place.settled(await place.create({ name: "played", examples: 12 }));
      const { page } = await place.open("new?environment=reverse-text");
      await scripted(page);
      await field(page, "Num examples").fill("40");
      await field(page, "Rollouts per example").fill("2");
      await field(page, "Look for an option").fill("what models cost");
      await field(page, "Prices").fill(JSON.stringify([{ url: place.model.url, model: "scripted", input_usd_per_mtok: 1_000, output_usd_per_mtok: 2_000 }]));
      const cost = page.getByRole("region", { name: "What it will take" });
      await cost.getByText("Tokens", { exact: true }).waitFor();
      expect(await cost.textContent()).toMatch(/Calls80/);
      expect(await cost.textContent()).toMatch(/Cost\$\d/);
    }));

  it("shows what is refused at its fields, bound to them, and starts nothing until it is mended", () =>
    closing(async () => {
      const before = await total();
      const { page } = await place.open("new", {}, /422/);
      await start(page);
      await page.getByText("2 fields are to be filled in or mended first: Environment, Model.").waitFor();
      const environment = await field(page, "Environment (required)").getAttribute("id");
      await expect.poll(() => focusedId(page)).toBe(environment);
      await start(page);
      await expect.poll(() => focusedId(page)).toBe(environment);
      await field(page, "Environment (required)").selectOption("arithmetic");
      await scripted(page);
      const examples = field(page, "Num examples");
      await examples.fill("many");
      const described = async (): Promise<string> =>
        page.evaluate<string>(
          `[...document.querySelectorAll("[aria-invalid=true]")].flatMap((each) => (each.getAttribute("aria-describedby") ?? "").split(" ")).map((id) => document.getElementById(id)?.textContent).join(" ")`,
        );
      await expect.poll(described).toContain("is not a whole number");
      await examples.fill("5");
      await field(page, "API base URL").fill("nowhere");
      await expect.poll(described).toContain("must be an http or https URL");
      await start(page);
      await page.getByText("The service would not make this run: see the marked fields.").waitFor();
      await expect.poll(() => focusedId(page)).toBe(await field(page, "API base URL").getAttribute("id"));
      expect(await barriersIn(page)).toEqual([]);
      await field(page, "API base URL").fill(place.model.url);
      await field(page, "Write seed as JSON").first().click();
      await field(page, "seed").first().fill('"seven"');
      await expect.poll(described).toMatch(/argument seed/);
      expect(await total()).toBe(before);
      await field(page, "seed").first().fill("7");
      await start(page);
      const id = await started(page);
      expect((await runAt(id)).eval_config).toMatchObject({ env_args: { seed: 7 } });
      await place.settled(id);
    }));

  it("asks for the same as a run with everything of it, marks what is changed, and takes it back", () =>
    closing(async () => {
      const first = await place.create({
        ...{ name: "it's the first", environment: "arithmetic", examples: 3 },
        config: {
          env_args: { difficulty: "easy" },
          sampling_args: { temperature: 0.25, extra_body: { a: [1] } },
          max_retries: 2,
          state_columns: ["turn"],
          shuffle: true,
          shuffle_seed: 5,
        },
      });
      await place.settled(first);
      const { page } = await place.open(`new?from=${first}`);
      await page.getByRole("heading", { name: "Again with changes" }).waitFor();
      await page.getByText("what you change is marked").waitFor();
      expect(await field(page, "difficulty").inputValue()).toBe("easy");
      expect(await field(page, "Temperature").inputValue()).toBe("0.25");
      await field(page, "Temperature").fill("0.75");
      await page.getByText("Changed: it was 0.25").waitFor();
      await page.getByText("but for 1 field that is marked").waitFor();
      await page.reload();
      await page.getByText("Changed: it was 0.25").waitFor();
      await page.getByRole("button", { name: "Take all changes back" }).click();
      await page.getByText("what you change is marked").waitFor();
      await start(page);
      const again = await started(page);
      expect(again).not.toBe(first);
      const [one, other] = [await runAt(first), await runAt(again)];
      expect(other.eval_config).toEqual(one.eval_config);
      expect(other.edgewise.settings).toEqual(one.edgewise.settings);
      expect(other.name).toBe(one.name);
      await place.settled(again);
    }));

  it("gives a command and a request that make the very same run", () =>
    closing(async () => {
      const { page } = await place.open("new?environment=reverse-text");
      await scripted(page);
      await field(page, "Num examples").fill("2");
      await field(page, "Rollouts per example").fill("1");
      await field(page, "Eval name").fill("it's $HOME");
      await field(page, "Max tokens").fill("64");
      const [command = "", request = ""] = await page.locator("pre").allTextContents();
      await start(page);
      const byForm = await started(page);
      const [url = "", ...words] = wordsOf("npx", command);
      const typed = await place.workplace.run(words.slice(1), { EDGEWISE_URL: url });
      expect(typed.code, typed.stderr).toBe(0);
      const byCommand = /Evaluation ID: ([0-9a-f]{8})/.exec(typed.stdout)?.[1] ?? "";
      const [, ...sent] = wordsOf("curl", request);
      expect(sent).toEqual([
        "-X",
        "POST",
        `${place.service}/api/v1/hosted-evaluations`,
        "-H",
        "Content-Type: application/json",
        "--data-binary",
        expect.anything(),
      ]);
      const byRequest = (await place.ask<{ evaluation_id: string }>("/hosted-evaluations", { method: "POST", body: JSON.parse(sent.at(-1) ?? "") as object }))
        .evaluation_id;
      const [form, ...others] = await Promise.all([byForm, byCommand, byRequest].map(runAt));
      for (const other of others) {
        expect(other.eval_config).toEqual(form?.eval_config);
        expect([other.name, other.edgewise.settings]).toEqual([form?.name, form?.edgewise.settings]);
      }
      await Promise.all([byForm, byCommand, byRequest].map((id) => place.settled(id)));
    }));

  it("makes one run of a double click, and of one whose answer was lost", () =>
    closing(async () => {
      const { page } = await place.open("new?environment=reverse-text", {}, /ERR_FAILED/);
      await scripted(page);
      await field(page, "Num examples").fill("1");
      await page.getByText("1 examples × 3 rollouts").or(page.getByText("1 examples ×")).first().waitFor();
      const before = await total();
      await page.route("**/api/v1/hosted-evaluations", async (route) => {
        await route.fetch();
        await route.abort();
      });
      await start(page);
      await page.getByText("The service does not answer.").waitFor();
      await page.unroute("**/api/v1/hosted-evaluations");
      await page.getByRole("button", { name: "Start the run" }).dblclick();
      await place.settled(await started(page));
      expect(await total()).toBe(before + 1);
    }));

  it("finds every option by its help, and keeps a draft through a reload without what may be a secret", () =>
    closing(async () => {
      const { page } = await place.open("new?environment=reverse-text");
      await field(page, "Model (required)").fill("kept");
      await page.keyboard.press("Tab");
      await field(page, "Look for an option").fill("GET at each finished unit");
      await page.getByText("1 option found").waitFor();
      await field(page, "Heartbeat URL").fill("https://beat.example/secret-path");
      await field(page, "Look for an option").fill("stalled OR nothing");
      await page.getByText("0 options found").waitFor();
      expect(await page.evaluate<string>("JSON.stringify(sessionStorage)")).not.toContain("secret-path");
      await page.reload();
      await expect.poll(() => field(page, "Model (required)").inputValue()).toBe("kept");
    }));

  it("is filled in and started by keys alone", () =>
    closing(async () => {
      const { page } = await place.open();
      await page.locator("a.run-link").first().waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("n");
      await field(page, "Environment (required)").waitFor();
      const to = async (label: string): Promise<void> => {
        const wanted = await field(page, label).getAttribute("id");
        for (let pressed = 0; pressed < 80; pressed += 1) {
          if ((await page.evaluate<string>("document.activeElement?.id ?? ''")) === wanted) return;
          await page.keyboard.press("Tab");
        }
        throw new Error(`${label} is not reached by Tab`);
      };
      await to("Environment (required)");
      await page.keyboard.type("reverse-text");
      await to("Where the model is");
      await page.keyboard.type("Another");
      await to("Model (required)");
      await page.keyboard.type("scripted");
      await to("API base URL");
      await page.keyboard.type(place.model.url);
      await to("Num examples");
      await page.keyboard.type("1");
      // Enter in a field starts nothing: a run costs money.
      await page.keyboard.press("Enter");
      for (let pressed = 0; pressed < 80; pressed += 1) {
        if ((await page.evaluate<string>("document.activeElement?.textContent ?? ''")) === "Start the run") break;
        await page.keyboard.press("Tab");
      }
      expect(page.url()).toMatch(/\/dashboard\/new$/);
      await page.keyboard.press("Enter");
      await place.settled(await started(page));
    }));

  it("runs nothing of what an environment says of itself and of its arguments", () =>
    closing(async () => {
      const { page } = await place.open("", {}, /ERR_FAILED/);
      const schema = { enum: [HOSTILE, "plain"] };
      const args = [
        { name: HOSTILE, schema: { type: "string" }, required: false, default: HOSTILE, description: HOSTILE },
        { name: "__proto__", schema, required: false, description: null },
      ];
      const link = {
        ...{ name: "wiki", urls: ["https://env.example"], environment: "wiki", version: "2.0.0", description: HOSTILE, digest: "a".repeat(64) },
        ...{
          args,
          defaults: { num_examples: 4 },
          keys: [],
          hosts: [],
          linked_at: new Date().toISOString(),
          linked_by: "ada",
          command: null,
          lease_until: null,
        },
      };
      await page.route("**/api/v1/environments/linked", (route) => route.fulfill({ json: { data: [link] } }));
      await page.route("**/api/v1/evaluation-forecasts", (route) => route.abort());
      await page.goto(`${place.service}/dashboard/new?environment=wiki`);
      await field(page, "Model (required)").fill("m");
      await field(page, "__proto__").selectOption("plain");
      await page.locator("textarea").first().fill("' $(touch taken) \u202e");
      const [command = ""] = await page.locator("pre").allTextContents();
      expect(command).toContain('"__proto__":"plain"');
      expect(command).toContain("\\u202e");
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(await page.title()).toBe("New run · Edgewise");
    }));

  it("has no barriers in both themes and at three widths, and stays within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [390, 820, 1_440]) {
          const { page } = await place.open("new?environment=arithmetic", { colorScheme, viewport: { width, height: 800 } }, /422/);
          await field(page, "Model (required)").fill("m");
          await field(page, "Look for an option").fill("requests");
          await page.getByRole("region", { name: "The same elsewhere" }).waitFor();
          expect(await barriersIn(page), `${colorScheme} ${width}`).toEqual([]);
          expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${width}`).toBeLessThanOrEqual(width);
        }
    }));
});
