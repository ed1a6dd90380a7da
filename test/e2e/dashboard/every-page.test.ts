import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, drawn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { pageAddresses } from "../../support/browser/every-page.ts";
import { PAYLOADS } from "../../support/browser/hostile-rows.ts";

const browserPath = findBrowser();
/** Every way at once in which a name may try to be more than a text. */
const HOSTILE = `${PAYLOADS.slice(0, 3).join("")}[a](javascript:alert(1)) \u202e\u2066`;
/** Of a text too, where control characters are let through. */
const TEXT = `${HOSTILE}\u0007\u001b]8;;https://evil.example\u0007`;
/** Of a schedule and an evaluator alike. */
const NAME = "nightly";
/** A question that is never answered. */
const UNANSWERED = new Promise<void>(() => undefined);

let place: DashboardPlace;
let addresses: readonly string[] = [];

beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath);
  const environment = "reverse-text";
  const { evaluation_id: id } = await place.ask<{ evaluation_id: string }>("/evaluations/", {
    method: "POST",
    body: {
      ...{ name: HOSTILE, model_name: HOSTILE, environments: [{ id: environment }], tags: ["nightly"] },
      metadata: { env_id: environment, note: HOSTILE, [HOSTILE.slice(0, 60)]: HOSTILE },
      metrics: { [HOSTILE.slice(0, 60)]: 1 },
    },
  });
  const rows = [0, 1].map((example_id) => ({
    ...{ example_id, rollout_index: 0, reward: example_id, answer: TEXT, metrics: { [HOSTILE]: example_id }, info: { [HOSTILE]: TEXT } },
    prompt: [{ role: "user", content: TEXT }],
    completion: [{ role: "assistant", content: TEXT }],
    ...(example_id === 0 ? {} : { error: { error: TEXT, error_chain_repr: TEXT, error_chain_str: TEXT } }),
  }));
  await place.ask(`/evaluations/${id}/samples`, { method: "POST", body: { samples: rows } });
  await place.ask(`/evaluations/${id}/finalize`, { method: "POST", body: {} });
  await place.settled(id);
  const asked = { env_id: environment, model: HOSTILE.slice(0, 60), num_examples: 1, api_base_url: place.model.url, api_key_var: "PRIME_API_KEY" };
  await place.ask(`/schedules/${NAME}`, { method: "PUT", body: { cron: "0 3 * * *", time_zone: "UTC", eval: asked } });
  const { model: _, ...without } = asked;
  await place.ask(`/evaluators/${NAME}`, { method: "PUT", body: { run_every: 50, evaluations: [{ name: "sums", eval: without, metrics: ["mean_reward"] }] } });
  addresses = await pageAddresses({ id, example: "0", rollout: "0", reference: environment, name: NAME });
}, 3 * PATIENCE_MS);
afterAll(() => place?.close());

const isQuiet = async (page: Page, where: string): Promise<void> => {
  expect.soft(await page.title(), where).not.toBe("taken");
  expect.soft(await page.locator("main img, main script, main iframe, main a[href^='javascript:' i]").count(), where).toBe(0);
  const text = await page.evaluate<string>("document.body.innerText");
  for (const acting of ["\u202e", "\u2066", "\u0007"]) expect.soft(text, where).not.toContain(acting);
};

describe.skipIf(browserPath === null)(`every page of the dashboard ${NEEDS_BROWSER}`, { timeout: 5 * PATIENCE_MS }, () => {
  it("has no barriers with what is folded open and with its help, in both themes, and runs nothing of hostile names", async () => {
    expect(addresses.length).toBeGreaterThan(10);
    const faults = await place.faultsOf(async () => {
      for (const [at, address] of addresses.entries())
        for (const colorScheme of ["light", "dark"] as const) {
          const width = (at + (colorScheme === "dark" ? 1 : 0)) % 2 === 0 ? 390 : 1_280;
          const opened = await place.open(address, { colorScheme, viewport: { width, height: 800 } });
          const { page } = opened;
          await drawn(page);
          await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
          expect.soft(await barriersIn(page), `${address} ${colorScheme}`).toEqual([]);
          expect.soft(await page.evaluate<number>("document.documentElement.scrollWidth"), `${address} ${width}`).toBeLessThanOrEqual(width);
          await isQuiet(page, address);
          if (width === 390) {
            await page.keyboard.press("?");
            await page.getByRole("dialog", { name: "Keys" }).waitFor();
            expect.soft(await barriersIn(page), `${address} ${colorScheme}, its keys`).toEqual([]);
          }
          expect.soft(opened.faults, address).toEqual([]);
          await opened.close();
        }
    });
    expect(faults).toEqual([]);
  });

  it("has no barriers and runs nothing while its questions are on their way, and when they are refused in hostile words", async () => {
    await place.faultsOf(async () => {
      for (const [at, address] of addresses.entries()) {
        const colorScheme = at % 2 === 0 ? "light" : "dark";
        const { page, faults } = await place.open("nowhere", { colorScheme }, /503/);
        await page.getByText("There is no page at this address.").waitFor();
        await page.route("**/api/v1/**", () => UNANSWERED);
        await page.goto(`${place.service}/dashboard/${address}`);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        expect.soft(await barriersIn(page), `${address} on its way`).toEqual([]);
        await page.unroute("**/api/v1/**");
        await page.route("**/api/v1/**", (route) => route.fulfill({ status: 503, json: { detail: TEXT, code: "internal", hint: TEXT } }));
        await page.goto(`${place.service}/dashboard/${address}`);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        if (!["new", "compare", "settings"].some((each) => address.startsWith(each))) await page.getByRole("alert").first().waitFor();
        expect.soft(await barriersIn(page), `${address} refused`).toEqual([]);
        await isQuiet(page, address);
        expect.soft(faults, address).toEqual([]);
      }
    });
  });
});
