import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, launchBrowser, openDashboard } from "../../support/browser/dashboard-browser.ts";
import { Workplace } from "../../support/cli/cli-process.ts";

const PATIENCE_MS = 60_000;
const TOKEN = "the-token-of-this-service";
const browserPath = findBrowser();

let place: Workplace;
let browser: Browser;
let service = "";

beforeAll(async () => {
  if (browserPath === null) return;
  place = new Workplace();
  await place.start(["serve", "--port", "0"], { EDGEWISE_TOKEN: TOKEN }).says("Edgewise listens on", PATIENCE_MS);
  service = `http://127.0.0.1:${readLock(place.state)?.port}`;
  browser = await launchBrowser(browserPath);
}, 2 * PATIENCE_MS);
afterAll(async () => {
  if (browserPath === null) return;
  await browser?.close();
  place?.remove();
});

describe.skipIf(browserPath === null)(`a dashboard with a token ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  it("leads to the form and back to the view that was asked for, keeps the token to itself, and signs out", async () => {
    const view = "/dashboard/?q=two+words&status=RUNNING%2CFAILED";
    const { page, faults, close } = await openDashboard(browser, service + view, {}, /401/);
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("No run is like that.").waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(view);
    expect(await page.content()).not.toContain(TOKEN);
    expect(await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage, document.cookie])")).not.toMatch(/token|[0-9a-f]{32}/);
    expect(await barriersIn(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    expect((await page.request.get(`${service}/api/v1/evaluations/`)).status()).toBe(401);
    expect(faults).toEqual([]);
    await close();
  });

  it("forgets what was typed into a form when somebody signs out, so that the next one in the same tab does not read it", async () => {
    const { page, close } = await openDashboard(browser, `${service}/dashboard/new`);
    const signIn = async (): Promise<void> => {
      await page.getByLabel("Token").fill(TOKEN);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByLabel("Model (required)").waitFor();
    };
    await signIn();
    await page.getByLabel("Model (required)").fill("half typed");
    await expect.poll(() => page.evaluate<string>("JSON.stringify(sessionStorage)")).toContain("half typed");
    await page.reload();
    await expect.poll(() => page.getByLabel("Model (required)").inputValue()).toBe("half typed");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    expect(await page.evaluate<string>("JSON.stringify(sessionStorage)")).not.toContain("half typed");
    await page.goto(`${service}/dashboard/new`);
    await signIn();
    expect(await page.getByLabel("Model (required)").inputValue()).toBe("");
    await close();
  });

  it("whose session is over says so in its place, with the way to sign in", async () => {
    const { page, close } = await openDashboard(browser, `${service}/dashboard/`);
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("No run yet.").waitFor();
    await page.context().clearCookies();
    await page.getByRole("searchbox").fill("x");
    await page.getByText(/^Signed in no more: these runs are as they were/).waitFor();
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("Token").waitFor();
    await close();
  });
});
