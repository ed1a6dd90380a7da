import { expect, it } from "vitest";
import { shotsOf } from "../../../tools/screenshots/shots.ts";
import { pagePaths } from "../../support/browser/every-page.ts";

it("every page of the dashboard is among the pictures of npm run screenshots", async () => {
  const ids = { whole: "0000000a", other: "0000000b", failing: "0000000c", running: "0000000d", waiting: "0000000e" };
  const addresses = shotsOf(ids).map(({ address }) => address.split("?")[0] ?? "");
  const paths = await pagePaths();
  expect(paths.length).toBeGreaterThan(10);
  const missing = paths.filter((path) => !addresses.some((address) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`).test(address)));
  expect(missing).toEqual([]);
});
