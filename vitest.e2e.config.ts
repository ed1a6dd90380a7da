import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { beginningWith } from "./tools/first-files.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** These count requests in flight, or look at a screen, from moment to moment: beside others they would measure the others. */
const ALONE = ["test/e2e/cli/concurrency.test.ts", "test/e2e/cli/embedded-model.test.ts", "test/e2e/cli/live-display.test.ts"];
/** From two and a half minutes down to one. */
const LONGEST = ["limits/shared-limit", "faults/server-faults", "faults/kill-anywhere", "faults/serve-restart", "cli/run", "faults/resume"].map(
  (name) => `test/e2e/${name}.test.ts`,
);
const PATIENCE = { testTimeout: 180_000, hookTimeout: 60_000 };

/**
 * The built command as a user starts it, against the scripted model server. Two files at a time, since they mostly wait: for leases, for
 * back-offs, for what a kill leaves behind. Each has folders, ports and processes of its own.
 */
export default defineConfig({
  test: {
    globalSetup: ["test/support/cli/build-once.ts"],
    teardownTimeout: 30_000,
    sequence: { sequencer: beginningWith(root, LONGEST) },
    projects: [
      { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], exclude: ALONE, maxWorkers: 2, sequence: { groupOrder: 0 }, ...PATIENCE } },
      { test: { name: "e2e alone", include: ALONE, fileParallelism: false, sequence: { groupOrder: 1 }, ...PATIENCE } },
    ],
  },
});
