import { defineConfig } from "vitest/config";

/** Pure rules, and the simulation of the machines: plain Node, milliseconds. */
export default defineConfig({
  test: {
    name: "rules",
    include: ["src/environments/bundled/**/*.test.ts", "test/rules/**/*.test.ts", "test/simulation/**/*.test.ts"],
    testTimeout: 30_000,
    // vitest leaves one core of two unused; the broken rules, which take as long as everything else, are one file and play beside the others.
    maxWorkers: 2,
  },
});
