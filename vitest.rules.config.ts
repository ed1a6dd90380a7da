import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { beginningWith } from "./tools/first-files.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Pure rules, and the simulation of the machines: plain Node, milliseconds. */
export default defineConfig({
  test: {
    name: "rules",
    include: ["src/environments/bundled/**/*.test.ts", "test/rules/**/*.test.ts", "test/simulation/**/*.test.ts"],
    testTimeout: 60_000,
    // A second, which is the default, is a pause that a busy machine makes.
    expect: { poll: { timeout: 20_000 } },
    // vitest leaves one core of two unused; the broken rules, which take as long as everything else, are one file and play beside the others.
    maxWorkers: 2,
    sequence: { sequencer: beginningWith(root, ["test/simulation/mutations/mutations.test.ts"]) },
  },
});
