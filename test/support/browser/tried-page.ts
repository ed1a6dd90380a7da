import type { Page } from "playwright-core";
import { expect } from "vitest";
import { PATIENCE_MS } from "./dashboard-place.ts";
import { seenIn } from "./hostile-answers.ts";

/** A page, what hostile texts it must show, by where they are from (`«here»` before each), and its buttons that ask before they do something. */
export type TriedPage = readonly [address: string, shows: string, asks?: readonly string[]];

/** Opens a page whose scripts are watched, holds it to nothing that acts, and uses it as somebody would: by its buttons, and by a key and a click. */
export async function tryPage(page: Page, ...[url, shows, asks = []]: TriedPage): Promise<void> {
  const address = url.slice(url.indexOf("/dashboard/"));
  await page.goto(url);
  const lacking = async (): Promise<readonly string[]> => {
    await page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true");
    const { places } = await seenIn(page);
    return shows.split(" ").filter((each) => each !== "" && !places.includes(each));
  };
  await expect.poll(lacking, { timeout: PATIENCE_MS, message: address }).toEqual([]);
  const quiet = async (where: string): Promise<void> => {
    expect.soft((await seenIn(page)).faults, `${address} ${where}`).toEqual([]);
  };
  const closed = async (): Promise<void> => {
    await page.locator("dialog[open]").waitFor({ state: "detached" });
  };
  for (const name of asks) {
    await page.locator("main").getByRole("button", { name, exact: true }).first().click();
    await page.locator("dialog[open]").waitFor();
    await quiet(name);
    await page.keyboard.press("Escape");
    await closed();
  }
  const copies = await page.locator("main").getByRole("button", { name: /^Copy/ }).all();
  for (const copy of copies) await copy.click();
  expect.soft((await seenIn(page)).copied.length, address).toBe(copies.length);
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await keys.waitFor();
  await keys.getByRole("button", { name: "Close" }).click();
  await closed();
  await quiet("");
}
