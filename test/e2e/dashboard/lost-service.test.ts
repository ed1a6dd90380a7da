import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, GONE, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();

let place: DashboardPlace;
beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

/** An id of a run that has settled. */
async function settled(name: string, script: Parameters<DashboardPlace["model"]["setScript"]>[0]): Promise<string> {
  place.model.setScript(script);
  const id = await place.create({ name, examples: 6 });
  await place.settled(id);
  return id;
}

const lost = (page: Page, what: string) => page.getByText(new RegExp(`^Connection lost: ${what} as`));

describe.skipIf(browserPath === null)(`a service that goes and comes back ${NEEDS_BROWSER}`, { timeout: 4 * PATIENCE_MS }, () => {
  it("is said to be lost on the pages of samples, a rollout and a comparison, which stay readable and mend", async () => {
    const runs = [await settled("good", { answer: "reverse" }), await settled("worse", { answer: "wrong" })];
    place.model.setScript({ answer: "reverse", latency_ms: 2_500 });
    const going = await place.create({ name: "through a kill", examples: 6 });
    const faults = await place.faultsOf(async () => {
      const { page: samples } = await place.open(`evaluations/${going}/samples`, {}, GONE);
      const links = samples.locator(".grid-rows a");
      await links.first().waitFor();
      const place0 = (await links.first().getAttribute("href")) ?? "";
      const { page: rollout } = await place.open(place0.replace("/dashboard/", ""), {}, GONE);
      const answer = rollout.locator("article.role-assistant .markdown");
      await answer.waitFor();
      const { page: compare } = await place.open(`compare?runs=${runs.join(",")}&at=1`, {}, GONE);
      const transcripts = compare.locator(".transcripts");
      await transcripts.locator(".message-pairs").waitFor();
      const metrics = await compare.locator("table.metrics").textContent();

      const port = await place.kill();
      await lost(samples, "these rollouts are").waitFor();
      expect(await links.count()).toBeGreaterThan(0);
      expect(await samples.locator(".grid-rows").textContent()).toContain("1");
      expect(await barriersIn(samples)).toEqual([]);

      await lost(rollout, "this rollout is").waitFor();
      await rollout.keyboard.press("r");
      await rollout.locator("article.role-assistant pre").waitFor();
      expect(await barriersIn(rollout)).toEqual([]);
      // What was never loaded cannot be shown; that it could not is said, and the way back is there.
      await rollout.keyboard.press("l");
      await rollout.getByRole("alert").getByText("The service does not answer.").waitFor();

      await compare.keyboard.press("ArrowRight");
      await transcripts.getByRole("alert").first().getByText("The service does not answer.").waitFor();
      await compare.getByRole("combobox", { name: "Show" }).selectOption("better");
      await lost(compare, "this comparison is").waitFor();
      await compare
        .getByText(/This page tries again by itself\./)
        .first()
        .waitFor();
      expect(await compare.locator("table.metrics").textContent()).toBe(metrics);
      expect(await compare.locator("a.example-link").count()).toBe(6);
      expect(await compare.locator("table.compared").textContent()).toContain("worse");
      expect(await barriersIn(compare)).toEqual([]);
      await compare.getByRole("combobox", { name: "Show" }).selectOption("all");

      place.model.setScript({ answer: "reverse" });
      await place.serveAgain(port);
      await lost(samples, "these rollouts are").waitFor({ state: "detached" });
      await samples.getByText("12 rollouts", { exact: true }).waitFor();
      await rollout.locator("article.role-assistant").waitFor();
      await rollout.getByRole("alert").waitFor({ state: "detached" });
      await lost(rollout, "this rollout is").waitFor({ state: "detached" });
      await lost(compare, "this comparison is").waitFor({ state: "detached" });
      await compare.locator("a.example-link").nth(1).click();
      await transcripts.locator(".message-pairs").waitFor();
      await compare.getByRole("alert").waitFor({ state: "detached" });
    });
    expect(faults).toEqual([]);
  });
});
