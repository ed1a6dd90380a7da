import { runBareLoop } from "../bare-loop.ts";
import { startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

/** What this machine and the scripted server allow, three times: how much of a difference between two benches is noise. */
export const bareLoop: Scenario = async () => {
  const model = await startModelProcess();
  try {
    const rates: { readonly name: string; readonly value: number }[] = [];
    for (let round = 1; round <= 3; round++) {
      for (const way of ["fetch", "direct"] as const) rates.push({ name: `round ${round}, ${way}`, value: (await runBareLoop(model, 10_000, 256, way)).rate });
    }
    return rates.map((rate) => ({ scenario: "bare-loop", ...rate, unit: "requests/s" }));
  } finally {
    await model.close();
  }
};
