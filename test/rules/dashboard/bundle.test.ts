import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { ASSET_NAME, ASSETS_PATH } from "../../../src/api/pages/built-dashboard.ts";
import { dashboardPage, dashboardPolicy } from "../../../src/api/pages/dashboard-page.ts";
import { bundleDashboard, type DashboardBundle } from "../../../tools/dashboard-bundle.ts";

/** Kilobytes, gzipped: of what the first page loads, and of any script that is loaded later. */
const FIRST_KB = 40;
const LATER_KB = 90;
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

let bundle: DashboardBundle;
beforeAll(async () => {
  bundle = await bundleDashboard(ROOT);
});
const kilobytes = (names: readonly string[]): number => gzipSync(Buffer.concat(names.map((name) => bundle.files.get(name) ?? new Uint8Array()))).length / 1_024;

describe("the files of the dashboard", () => {
  it("are small: the first page with all that it loads, and every script after it", () => {
    const { script, style, preloads } = bundle.page;
    const runs = [...bundle.files.keys()].filter((name) => name.startsWith("runs-page-"));
    expect(runs).toHaveLength(1);
    const first = [script, style, ...preloads, ...runs];
    expect(first.every((name) => bundle.files.has(name))).toBe(true);
    expect(kilobytes(first)).toBeLessThan(FIRST_KB);
    for (const name of bundle.files.keys()) expect(kilobytes([name]), name).toBeLessThan(LATER_KB);
  });

  it("have names that the service sends, and nothing in them that a policy would have to allow", () => {
    for (const [name, contents] of bundle.files) {
      expect(name).toMatch(ASSET_NAME);
      expect(Buffer.from(contents).toString(), name).not.toMatch(/\beval\(|new Function\(/);
    }
    // Preact has a way to make markup of text; no page goes it.
    const pages = Object.keys(bundle.metafile.inputs).filter((path) => path.startsWith("src/dashboard/"));
    for (const path of pages) expect(readFileSync(ROOT + path, "utf8"), path).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/i);
  });

  it("are one style for all pages, since none is loaded with a page's script", () => {
    expect([...bundle.files.keys()].filter((name) => name.endsWith(".css"))).toEqual([bundle.page.style]);
    const style = Buffer.from(bundle.files.get(bundle.page.style) ?? []).toString();
    for (const name of [".status", ".chart-place", ".uplot"]) expect(style).toContain(name);
  });

  it("hold nothing of the door or of Node", () => {
    const inputs = Object.keys(bundle.metafile.inputs);
    expect(inputs.length).toBeGreaterThan(30);
    expect(inputs.filter((path) => /^(?:src\/(?:api|cli|executor)|durable-objects)\/|node_modules\/zod\//.test(path))).toEqual([]);
  });
});

describe("the page that loads them", () => {
  it("loads from the path of the files alone, and says who looks without becoming markup", async () => {
    const viewer = {
      user: `"><b>`,
      team: `"><script>alert(1)</script>`,
      teams: ["a", "b"],
      signedIn: { via: "session", csrf: "c5rf" },
      version: "1",
      folders: "",
    } as const;
    const page = String(await dashboardPage(bundle.page, viewer));
    expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address).every((address) => address?.startsWith(`${ASSETS_PATH}/`))).toBe(true);
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).toContain('data-csrf="c5rf"');
    const policy = dashboardPolicy("https://edgewise.example");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src https://edgewise.example${ASSETS_PATH}/;`);
    expect(policy).not.toMatch(/unsafe|\*|http:|script-src[^;]*'self'/);
  });
});
