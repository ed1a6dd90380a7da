import { join } from "node:path";
import { TOKEN } from "../../../test/support/mock-hub/mock-hub.ts";
import { startMockHub } from "../../../test/support/mock-hub/mock-hub-server.ts";
import type { Measure } from "../../measure.ts";
import type { Scenario } from "../../scenario.ts";
import { type Cost, costOf, resultsFolder } from "./export.ts";

const SMALL = 20_000;
const LARGE = 200_000;
const MIB = 1024 * 1024;

/** A finished results folder pushed to a Hub that is this process, files whole and in parts: the memory of the command must not grow with the rows. */
export const hubPush: Scenario = async (places) => {
  const { folder } = places("hub-push");
  const small = await resultsFolder(join(folder, "small"), SMALL);
  const large = await resultsFolder(join(folder, "large"), LARGE);
  const measures: Measure[] = [];
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "hub-push", name, value, unit });
  for (const [how, options] of [
    ["whole files", {}],
    ["parts of 16 MiB", { multipart: { from: 5 * MIB, chunk: 16 * MIB } }],
  ] as const) {
    const few = await pushed(folder, small, options);
    const many = await pushed(folder, large, options);
    measures.push(measure(`${how}: ${LARGE} rows`, LARGE / many.seconds, "rows/s"), measure(`${how}: peak memory of ${LARGE} rows`, many.peak / MIB, "MiB"), {
      ...measure(`${how}: peak memory beside that of ${SMALL} rows`, many.peak / few.peak, "ratio"),
      target: { at_most: 1.2 },
    });
  }
  return measures;
};

async function pushed(cwd: string, run: string, options: Parameters<typeof startMockHub>[0]): Promise<Cost> {
  const server = await startMockHub(options);
  try {
    const cost = await costOf(cwd, ["push", run, "--to", "hf:me/rows"], { HF_ENDPOINT: server.url, HF_TOKEN: TOKEN });
    if (server.hub.problems.length > 0 || server.hub.commits("me/rows").length !== 1) throw new Error(`the push went wrong: ${server.hub.problems.join("; ")}`);
    return cost;
  } finally {
    await server.close();
  }
}
