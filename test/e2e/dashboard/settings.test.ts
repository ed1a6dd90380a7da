import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { SETTINGS_TABS } from "../../../src/dashboard/pages/settings/settings-tabs.ts";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, launchBrowser, type OpenedDashboard, openDashboard } from "../../support/browser/dashboard-browser.ts";
import { startFakeService } from "../../support/cli/cli-fake-service.ts";
import { Workplace } from "../../support/cli/cli-process.ts";

const PATIENCE_MS = 60_000;
const TOKEN = "the-owner-token-of-this-service";
const SECRET = "sk-a-value-that-nobody-may-see-again";
/** What somebody may call a token, or write into an alert. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
const WIDTHS = [390, 820, 1_440];
const browserPath = findBrowser();

let place: Workplace;
let browser: Browser;
let service = "";
let opened: OpenedDashboard[] = [];

const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });
const open = async (tab: string, token = TOKEN, options: object = {}, expected?: RegExp): Promise<OpenedDashboard> => {
  const dashboard = await openDashboard(browser, `${service}/dashboard/settings?tab=${tab}`, { extraHTTPHeaders: headersOf(token), ...options }, expected);
  opened.push(dashboard);
  return dashboard;
};
const ask = async <T>(path: string, { method = "GET", token = TOKEN, body }: { method?: string; token?: string; body?: object } = {}): Promise<T> => {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${service}/api/v1${path}`, { method, headers: { ...headersOf(token), "content-type": "application/json" }, ...init });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};
/** All that a page and its browser hold, and where the page is. */
const heldBy = async ({ page }: OpenedDashboard): Promise<string> =>
  (await page.content()) +
  page.url() +
  (await page.evaluate<string>(
    "JSON.stringify([localStorage, sessionStorage, document.cookie, history.state, [...document.querySelectorAll('input')].map((e) => e.value)])",
  ));

beforeAll(async () => {
  if (browserPath === null) return;
  place = new Workplace();
  await place.start(["serve", "--port", "0"], { EDGEWISE_TOKEN: TOKEN }).says("Edgewise listens on", PATIENCE_MS);
  service = `http://127.0.0.1:${readLock(place.state)?.port}`;
  browser = await launchBrowser(browserPath);
}, 2 * PATIENCE_MS);
afterAll(async () => {
  await browser?.close();
  place?.remove();
});

describe.skipIf(browserPath === null)(`the settings ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    opened = [];
    try {
      await work();
      expect(opened.flatMap(({ faults }) => faults)).toEqual([]);
    } finally {
      for (const each of opened) await each.close();
    }
  };

  it("say who looks, and lead to each part by an address of its own, by keys too", () =>
    closing(async () => {
      const { page } = await open("nowhere");
      await page.getByText("everything: the owner of the service").waitFor();
      await page.getByRole("link", { name: "Secrets" }).click();
      await page.getByRole("heading", { name: "Secrets" }).waitFor();
      expect(new URL(page.url()).searchParams.get("tab")).toBe("secrets");
      await page.keyboard.press("ArrowLeft");
      await page.getByRole("heading", { name: "Tokens" }).waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("r");
      await page.getByText("No run yet.").waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press(",");
      await page.getByRole("heading", { name: "Who am I" }).waitFor();
      await page.goBack();
      await page.getByText("No run yet.").waitFor();
    }));

  it("make a token whose text is shown once and kept nowhere, and revoke it", () =>
    closing(async () => {
      const dashboard = await open("tokens");
      const { page } = dashboard;
      await page.getByText("There is no token yet.").waitFor();
      await page.getByLabel("What it is for").fill(HOSTILE);
      await page.getByLabel("runs:read").check();
      await page.getByLabel("secrets:write").check();
      await page.getByRole("button", { name: "Make the token" }).click();
      const text = (await page.locator(".shown-once").textContent()) ?? "";
      expect(text.length).toBeGreaterThan(20);
      expect(page.url()).not.toContain(text);
      expect((await ask<{ data: { edgewise: { scopes: string[] } } }>("/user/whoami", { token: text })).data.edgewise.scopes).toEqual([
        "runs:read",
        "secrets:write",
      ]);
      await page.getByRole("button", { name: "Done" }).click();
      await page.locator(".shown-once").waitFor({ state: "detached" });
      expect(await heldBy(dashboard)).not.toContain(text);
      const row = page.getByRole("row", { name: /<script>/ });
      await row.waitFor();
      expect(await page.locator("main img, main script").count()).toBe(0);
      await row.getByRole("button", { name: "Revoke" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await row.getByText("revoked").waitFor();
      await expect(ask("/user/whoami", { token: text })).rejects.toThrow("401");
      expect(await page.title()).toBe("Settings · Edgewise");
    }));

  it("refuse a token without a scope in words, and keep what was typed", () =>
    closing(async () => {
      const { page } = await open("tokens", TOKEN, {}, /422/);
      await page.getByLabel("What it is for").fill("nothing");
      await page.getByRole("button", { name: "Make the token" }).click();
      await page.getByRole("alert").getByText("must name a scope").waitFor();
      expect(await page.getByLabel("What it is for").inputValue()).toBe("nothing");
    }));

  it("take the value of a secret, and neither show nor keep it: not in the page, its address, or the browser", () =>
    closing(async () => {
      const dashboard = await open("secrets");
      const { page } = dashboard;
      await page.getByText("There is no secret yet.").waitFor();
      const set = async (): Promise<void> => {
        await page.getByLabel("Name", { exact: true }).fill("JUDGE_API_KEY");
        await page.getByLabel("Value").fill(SECRET);
        expect(await page.getByLabel("Value").getAttribute("type")).toBe("password");
        await page.getByLabel("Hosts of models").fill("api.example.com");
        await page.getByRole("button", { name: "Set the secret" }).click();
      };
      await set();
      await page.getByText("JUDGE_API_KEY is kept, encrypted.").waitFor();
      await page.getByRole("row", { name: /JUDGE_API_KEY.*api\.example\.com/ }).waitFor();
      expect(await heldBy(dashboard)).not.toContain(SECRET);
      await set();
      await page.getByText("Its value before is gone.").waitFor();
      expect(await heldBy(dashboard)).not.toContain(SECRET);
      await page.reload();
      await page.getByRole("row", { name: /JUDGE_API_KEY/ }).waitFor();
      expect(await heldBy(dashboard)).not.toContain(SECRET);
      await page
        .getByRole("row", { name: /JUDGE_API_KEY/ })
        .getByRole("button", { name: "Delete" })
        .click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("There is no secret yet.").waitFor();
      expect((await ask<{ data: unknown[] }>("/secrets/")).data).toEqual([]);
    }));

  it("show what one environment is given, its secrets by name alone", () =>
    closing(async () => {
      const path = "/environmentshub/arithmetic";
      await ask(`${path}/secrets`, { method: "POST", body: { name: "ITS_KEY", value: SECRET } });
      await ask(`${path}/variables`, { method: "POST", body: { name: "LEVEL", value: HOSTILE } });
      const dashboard = await open("environment");
      const { page } = dashboard;
      await page.getByLabel("Environment", { exact: true }).fill("arithmetic");
      await page.getByRole("button", { name: "Show" }).click();
      await page.getByRole("row", { name: /ITS_KEY/ }).waitFor();
      await page.getByRole("row", { name: /LEVEL.*<script>/ }).waitFor();
      expect(new URL(page.url()).searchParams.get("environment")).toBe("arithmetic");
      expect(await heldBy(dashboard)).not.toContain(SECRET);
    }));

  it("make an alert whose signing secret is shown once, try it, and show what its hostile receiver answered", () =>
    closing(async () => {
      const receiver = await startFakeService((_, response) => {
        response.writeHead(500).end(HOSTILE);
      });
      try {
        const dashboard = await open("alerts");
        const { page } = dashboard;
        await page.getByText("Nobody is told of anything yet.").waitFor();
        await page.getByLabel("Name", { exact: true }).fill("oncall");
        await page.getByLabel("Address", { exact: true }).fill(`${receiver.url}/hook-with-a-secret`);
        await page.getByLabel("run.failed").check();
        await page.getByRole("button", { name: "Keep the alert" }).click();
        const secret = (await page.locator(".shown-once").textContent()) ?? "";
        expect(secret).toMatch(/^whsec_/);
        await page.getByRole("button", { name: "Done" }).click();
        for (const hidden of [secret, "hook-with-a-secret"]) expect(await heldBy(dashboard)).not.toContain(hidden);
        const row = page.getByRole("row", { name: /oncall/ });
        await row.getByRole("button", { name: "Test" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Test" }).click();
        await page.getByText(/The message (?:was not taken|waits to be sent)/).waitFor();
        await expect.poll(() => receiver.asked.map(({ path }) => path)).toEqual(["/hook-with-a-secret"]);
        await row.getByRole("button", { name: "Messages" }).click();
        await page.getByRole("heading", { name: "Messages of oncall" }).waitFor();
        await page.getByText("<script>").waitFor();
        expect(await page.locator("main img, main script").count()).toBe(0);
        await row.getByRole("button", { name: "Delete" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
        await page.getByText("Nobody is told of anything yet.").waitFor();
      } finally {
        await receiver.close();
      }
    }));

  it("add a monitor whose address is shown once and works, pause it and go on", () =>
    closing(async () => {
      const dashboard = await open("monitors");
      const { page } = dashboard;
      await page.getByText("No job is watched yet.").waitFor();
      await page.getByLabel("Name", { exact: true }).fill("trainer");
      await page.getByLabel("A beat each").fill("5m");
      await page.getByRole("button", { name: "Keep the monitor" }).click();
      const address = (await page.locator(".shown-once").textContent()) ?? "";
      expect((await fetch(address)).status).toBeLessThan(300);
      await page.getByRole("button", { name: "Done" }).click();
      expect(await heldBy(dashboard)).not.toContain(address);
      const row = page.getByRole("row", { name: /trainer/ });
      await row.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
      await row.locator(".status", { hasText: "Paused" }).waitFor();
      await row.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
      await page.getByText("trainer is watched on.").waitFor();
    }));

  it("say which scope is missing, and what makes a token with it, to whom may only read", () =>
    closing(async () => {
      const { data } = await ask<{ data: { token: string } }>("/tokens", { method: "POST", body: { name: "reader", scopes: ["runs:read"] } });
      const { page } = await open("tokens", data.token, {}, /403/);
      await page.getByRole("alert").getByText("This needs the scope admin; the token has runs:read.").waitFor();
      expect(await page.getByRole("button", { name: "Make the token" }).count()).toBe(0);
      await page.getByRole("link", { name: "Secrets" }).click();
      await page.getByText("This needs the scope secrets:write; the token has runs:read.").waitFor();
      await page.getByRole("link", { name: "Monitors" }).click();
      await page
        .getByRole("row", { name: /trainer/ })
        .getByRole("button", { name: "Pause" })
        .click();
      await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
      await page.getByRole("dialog").getByText("This needs the scope runs:write").waitFor();
    }));

  it("have the newest of the audit first, page by page", () =>
    closing(async () => {
      for (let at = 0; at < 101; at += 1) await ask("/baselines/none", { method: "DELETE" }).catch(() => undefined);
      const { page } = await open("audit");
      const rows = page.locator("tbody tr");
      await expect.poll(() => rows.count()).toBe(100);
      expect(await rows.first().textContent()).toMatch(/edgewise.*baseline\.delete.*none.*404/);
      await page.getByRole("link", { name: "Older entries" }).click();
      await page
        .getByRole("row", { name: /token\.create/ })
        .first()
        .waitFor();
      await page.getByRole("link", { name: "The newest" }).click();
      await expect.poll(() => rows.count()).toBe(100);
    }));

  it("have no barriers in both themes and at three widths, and stay within the screen", () =>
    closing(async () => {
      await ask("/endpoints", {
        method: "POST",
        body: { endpoint: [{ endpoint_id: "checkpoint", model: "m", url: "http://127.0.0.1:9/v1", key: "PRIME_API_KEY" }] },
      });
      await ask("/budgets/team", { method: "PUT", body: { day: 20 } });
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await open("me", TOKEN, { colorScheme });
        for (const { id } of SETTINGS_TABS) {
          await page.goto(`${service}/dashboard/settings?tab=${id}`);
          await page.getByRole("heading", { level: 2 }).first().waitFor();
          await expect.poll(() => page.getByText("Loading…").count()).toBe(0);
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 800 });
            if (width === 390 || id === "alerts") expect(await barriersIn(page), `${id}, ${colorScheme}, ${width}`).toEqual([]);
            expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${id} at ${width}`).toBeLessThanOrEqual(width);
          }
        }
      }
    }));
});
