import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { shared } from "./tools/bundle-options.ts";
import { buildIsolateLibrary } from "./tools/isolate-library.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/**
 * wrangler.toml but for two flags: the test runner itself imports the bindings, which no other code of the Worker may; and it sends a module
 * with its source map in one message of a WebSocket, which the largest package is too large for without the second. Without the
 * deployment, so that a test can say what an environment's digest is; and without the files of the dashboard, which the build makes.
 */
function testConfiguration(): string {
  const folder = `${root}node_modules/.cache/edgewise`;
  mkdirSync(folder, { recursive: true });
  const text = readFileSync(`${root}wrangler.toml`, "utf8")
    .replace('"disallow_importable_env"', '"increase_websocket_message_size"')
    .replace(/^\[version_metadata\]\n.*\n/m, "")
    .replace(/^\[assets\]\n(?:.+\n)+/m, "")
    .replace('main = "src/', `main = "${root}src/`);
  writeFileSync(`${folder}/wrangler.toml`, text);
  return `${folder}/wrangler.toml`;
}

/** Variables of the command that tests read: they do not see its environment. */
const asked = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));

/** Durable Objects, queue consumer and HTTP door in real workerd, with the bindings of wrangler.toml. Storage is fresh per file. */
export default defineConfig({
  // As the build does: made of the sources as they are.
  define: { EDGEWISE_ISOLATE_LIBRARY: JSON.stringify(await buildIsolateLibrary(root, shared(root, { version: "0.0.0", code: null }))) },
  plugins: [cloudflareTest({ wrangler: { configPath: testConfiguration() }, miniflare: { bindings: asked(["EDGEWISE_ISOLATION", "EDGEWISE_TEST_SEED"]) } })],
  test: {
    name: "workers",
    include: ["test/workers/**/*.test.ts"],
    globalSetup: ["test/support/model-server/model-server-setup.ts"],
    // Most of the time is spent waiting for leases, alarms and flushes.
    maxWorkers: 2,
    // Above every wait of a test, which then says what it waited for.
    testTimeout: 90_000,
    // A second, which is the default, is a pause that a busy machine makes.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
  },
});
