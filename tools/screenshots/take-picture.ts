import type { BrowserContextOptions, Page } from "playwright-core";
import { drawn, openDashboard } from "../../test/support/browser/dashboard-browser.ts";
import { GONE } from "../../test/support/browser/dashboard-place.ts";
import { cutLine } from "./cut-line.ts";
import type { Service } from "./services.ts";
import type { Shot, State } from "./shots.ts";

/** For charts and live numbers to be drawn: a page that follows a run is never at rest. */
const DRAWN_MS = 1_500;
/** What a service says that is overloaded. */
const REFUSED = { status: 503, json: { detail: "The service is at its limit of requests.", code: "internal", hint: "Wait a minute and try again." } };
/** What the console says of what a state brings about. */
const EXPECTED: Readonly<Record<State, RegExp>> = { loading: /(?!)/, failed: /503/, stale: GONE };
/** The same for a page that there is none of. */
const MISSING = /404/;
/** A bar that sticks to the foot of the screen stands at the foot of a picture that is longer than that. */
const UNSTICK = `for (const each of document.querySelectorAll("main *")) {
  const { position, bottom } = getComputedStyle(each);
  if (position === "sticky" && bottom !== "auto") each.style.position = "static";
}`;

/** Takes a picture, and answers with what went wrong unseen. `path`: of its file. */
export async function takePicture(service: Service, shot: Shot, options: BrowserContextOptions & { readonly path: string }): Promise<readonly string[]> {
  const { path, ...opened } = options;
  const { state, address } = shot;
  const line = state === "stale" ? await cutLine(service.url) : null;
  const base = line?.url ?? service.url;
  const first = state === undefined || state === "stale" ? address : "/dashboard/nowhere";
  const { page, faults, close } = await openDashboard(service.browser, base + first, opened, state === undefined ? MISSING : EXPECTED[state]);
  try {
    if (state === "loading" || state === "failed") {
      await page.route("**/api/v1/**", (route) => (state === "failed" ? route.fulfill(REFUSED) : undefined));
      await page.goto(base + address);
    }
    if (state === "loading") await page.getByRole("heading", { level: 1 }).waitFor();
    else await drawn(page);
    await page.waitForTimeout(DRAWN_MS);
    if (line !== null) {
      line.cut();
      await lost(page, shot);
    }
    await page.evaluate(UNSTICK);
    await page.screenshot({ path, fullPage: true });
    const [wide, screen] = await page.evaluate<[number, number]>("[document.documentElement.scrollWidth, innerWidth]");
    return wide > screen ? [...faults, `${address} is ${wide} pixels wide on a screen of ${screen}`] : faults;
  } finally {
    await close();
    line?.cut();
  }
}

/** Until the page says that the service is lost, which it sees at the latest when somebody comes back to it. */
async function lost(page: Page, { asks }: Shot): Promise<void> {
  await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
  await asks?.(page);
  await page.getByText(/^Connection lost: /).waitFor();
}
