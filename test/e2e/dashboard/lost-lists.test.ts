import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, GONE, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { keepThings } from "../../support/browser/kept-things.ts";

const browserPath = findBrowser();
const ENVIRONMENT = "reverse-text";
const SILENT = "The service does not answer.";

/** Pages that look again now and then: what they say that they hold on to, and a text that they show. */
const LOOKING = [
  { address: "schedules", what: "these schedules are", shows: "nightly" },
  { address: "schedules/nightly", what: "this schedule is", shows: "Next due" },
  { address: "evaluators", what: "these evaluators are", shows: "loop" },
  { address: "evaluators/loop", what: "this evaluator is", shows: "Settings" },
  { address: "settings?tab=tokens", what: "these tokens are", shows: "of the night" },
  { address: "settings?tab=secrets", what: "these secrets are", shows: "JUDGE_API_KEY" },
  { address: "settings?tab=monitors", what: "these monitors are", shows: "trainer" },
  { address: "settings?tab=alerts", what: "these alerts are", shows: "oncall" },
  { address: "settings?tab=endpoints", what: "this is", shows: "checkpoint" },
] as const;

let place: DashboardPlace;
beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath);
  await keepThings(place);
}, 3 * PATIENCE_MS);
afterAll(() => place?.close());

const lost = (page: Page, what = "") => page.getByText(new RegExp(`^Connection lost: ${what}`)).first();
/** As who comes back to a tab: it looks at once. */
const comeBack = (page: Page): Promise<unknown> => page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
const shown = (page: Page) => page.locator("main");
/** Marks the document, so that one that was loaded anew is told from it. */
const mark = (page: Page): Promise<unknown> => page.evaluate("window.sameDocument = true");
const isSame = (page: Page): Promise<boolean> => page.evaluate<boolean>("window.sameDocument === true");

describe.skipIf(browserPath === null)(`a service that goes under pages that look now and then ${NEEDS_BROWSER}`, { timeout: 5 * PATIENCE_MS }, () => {
  it("is said to be lost on schedules, evaluators and settings, which keep what they show, say it of a change too, and mend without being loaded again", async () => {
    const faults = await place.faultsOf(async () => {
      const pages: { readonly page: Page; readonly what: string; readonly shows: string; readonly address: string }[] = [];
      for (const [at, { address, what, shows }] of LOOKING.entries()) {
        const { page } = await place.open(address, { colorScheme: at % 2 === 0 ? "light" : "dark" }, GONE);
        await shown(page).getByText(shows).first().waitFor();
        await mark(page);
        pages.push({ page, what, shows, address });
      }
      const port = await place.kill();
      for (const { page, what, shows, address } of pages) {
        await comeBack(page);
        await lost(page, what).waitFor();
        await shown(page)
          .getByText(/This page tries again by itself\./)
          .waitFor();
        expect.soft(await shown(page).textContent(), address).toContain(shows);
        expect.soft(await shown(page).textContent(), address).not.toMatch(/no schedule yet|no evaluator yet|there is no |nobody is told|no job is watched/i);
        expect.soft(await barriersIn(page), address).toEqual([]);
      }
      const [, schedule] = pages;
      if (schedule === undefined) throw new Error("no page of a schedule");
      const dialog = schedule.page.getByRole("dialog");
      await schedule.page.getByRole("button", { name: "Pause" }).click();
      await dialog.getByRole("button", { name: "Pause" }).click();
      await dialog.getByText(`${SILENT} Is it running, and is the network there?`).waitFor();
      // Nor does it promise to pause by itself.
      expect(await dialog.textContent()).not.toContain("by itself");

      await place.serveAgain(port);
      for (const { page, shows, address } of pages) {
        await lost(page).waitFor({ state: "detached" });
        expect.soft(await shown(page).textContent(), address).toContain(shows);
        expect.soft(await isSame(page), address).toBe(true);
      }
      await dialog.getByRole("button", { name: "Pause" }).click();
      await dialog.waitFor({ state: "detached" });
      await schedule.page.getByRole("button", { name: "Resume" }).waitFor();
    });
    expect(faults).toEqual([]);
  });

  it("leaves environments and what was written into a new run as they were, and a run is started once it is back", async () => {
    place.model.setScript({ answer: "reverse" });
    const faults = await place.faultsOf(async () => {
      const { page: environments } = await place.open(`environments/${ENVIRONMENT}`, {}, GONE);
      await environments.getByText("Reverse a text").first().waitFor();
      await mark(environments);
      await environments.getByRole("link", { name: "All environments" }).click();
      await environments.getByRole("link", { name: "arithmetic", exact: true }).waitFor();
      const { page: form } = await place.open(`new?environment=${ENVIRONMENT}`, {}, GONE);
      const field = (label: string) => form.getByLabel(label, { exact: true });
      await field("Where the model is").selectOption("address");
      await field("Model (required)").fill("scripted");
      await field("API base URL").fill(place.model.url);
      await field("API key var").fill("PRIME_API_KEY");
      await field("Eval name").fill("asked for while nobody answered");
      await field("Num examples").fill("1");
      await mark(form);

      const port = await place.kill();
      await environments.getByPlaceholder("Name, kind or description").fill("arith");
      await environments.getByRole("link", { name: ENVIRONMENT, exact: true }).waitFor({ state: "detached" });
      await environments.getByRole("link", { name: "arithmetic", exact: true }).click();
      // What was never loaded cannot be shown; that it could not is said.
      await environments.getByRole("alert").getByText(SILENT).first().waitFor();
      expect(await barriersIn(environments)).toEqual([]);
      await form.getByRole("button", { name: "Start the run" }).click();
      await form.getByRole("status").getByText(SILENT).waitFor();
      expect(await form.locator("#start-said").textContent()).not.toContain("by itself");
      expect(await field("Eval name").inputValue()).toBe("asked for while nobody answered");
      expect(await barriersIn(form)).toEqual([]);

      await place.serveAgain(port);
      await environments.getByRole("heading", { name: "Arguments" }).waitFor();
      await environments.getByRole("alert").waitFor({ state: "detached" });
      expect(await isSame(environments)).toBe(true);
      await form.getByRole("button", { name: "Start the run" }).click();
      await form.waitForURL(/\/dashboard\/evaluations\/[0-9a-f]{8}$/);
      await form.getByRole("heading", { name: "asked for while nobody answered" }).waitFor();
      expect(await isSame(form)).toBe(true);
      const { total } = await place.ask<{ total: number }>("/evaluations/?limit=1");
      expect(total).toBe(1);
    });
    expect(faults).toEqual([]);
  });
});
