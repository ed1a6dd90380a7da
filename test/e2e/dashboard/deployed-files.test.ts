import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness } from "wrangler";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TOKEN = "the-token-of-this-deployment";

const folder = mkdtempSync(join(tmpdir(), "edgewise-deployed-"));
const configPath = join(folder, "wrangler.toml");
// As it is deployed: the built Worker, the built files, and the platform's own way of sending them.
writeFileSync(
  configPath,
  readFileSync(`${ROOT}wrangler.toml`, "utf8")
    .replace('main = "src/worker.ts"', `main = "${ROOT}dist/worker.js"`)
    .replace('directory = "dist/assets"', `directory = "${ROOT}dist/assets"`)
    .replace("[vars]\n", `[vars]\nEDGEWISE_TOKEN = "${TOKEN}"\n`),
);
const deployment = createTestHarness({ workers: [{ configPath }] });
const get = (path: string, headers: Record<string, string> = {}) => deployment.fetch(`https://edgewise.example${path}`, { headers, redirect: "manual" });

beforeAll(() => deployment.listen(), 60_000);
afterAll(async () => {
  await deployment.close();
  rmSync(folder, { recursive: true, force: true });
});

it("the platform sends what the page of a deployment loads, to everybody and for ever; the page itself is for who is known", async () => {
  const page = await get("/dashboard/", { authorization: `Bearer ${TOKEN}`, accept: "text/html" });
  expect(page.status).toBe(200);
  const policy = page.headers.get("content-security-policy") ?? "";
  const named = [...(await page.text()).matchAll(/"(\/dashboard\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(2);
  for (const path of named) {
    const file = await get(path);
    await file.text();
    expect([
      file.status,
      file.headers.get("cache-control"),
      file.headers.get("x-content-type-options"),
      file.headers.get("cross-origin-resource-policy"),
      file.headers.get("content-security-policy"),
    ]).toEqual([...[200, "public, max-age=31536000, immutable", "nosniff", "same-origin", "default-src 'none'"]]);
    expect(file.headers.get("content-type")).toMatch(path.endsWith(".css") ? /^text\/css/ : /^text\/javascript/);
  }
  expect(policy).toContain("script-src https://edgewise.example/dashboard/assets/;");
  expect((await get("/dashboard/", { accept: "application/json" })).status).toBe(401);
  expect((await get("/_headers")).status).toBe(401);
  expect((await get("/dashboard/assets/gone-ABCDEFGH.js")).status).toBe(404);
});
