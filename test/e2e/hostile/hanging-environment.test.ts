import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { until, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
freshPlaces((fresh) => {
  ({ place, model } = fresh);
});

const HANG_MS = 2_500;
/** Of one question to the front door: it answers for the runtime from half of `HANG_MS` on, and whoever asked before waits for the runtime. */
const SHORT_MS = HANG_MS / 5;

/** Its reward function never comes back from one of four examples. */
const LOOPS = `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";

function endless({ answer }: { answer: string }): number {
  while (answer === "three");
  return 1;
}

export default defineEnvironment({
  id: "loops", version: "1.0.0", description: "Hangs.", args: z.object({}),
  load: () => new SingleTurnEnv({
    dataset: async function* () { for (const answer of ["one", "two", "three", "four"]) yield { question: answer, answer }; },
    rubric: new Rubric([endless]),
  }),
});
`;

/** Looks at its arguments without end. */
const LOOKS = `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "looks", version: "1.0.0", description: "Hangs.", args: z.object({ size: z.int().refine((size) => { while (size === 3); return true; }).default(1) }),
  load: () => new SingleTurnEnv({ dataset: [{ question: "one" }], rubric: new Rubric([() => 1]) }),
});
`;

describe("an environment that never gives the processor back", () => {
  it("is named, and the runtime that it holds is ended and started again; until then who asks is told so", async () => {
    mkdirSync(join(place.folder, "environments", "loops"), { recursive: true });
    writeFileSync(join(place.folder, "environments", "loops", "loops.ts"), LOOPS);
    const cli = place.start(["eval", "run", "loops", "-m", "scripted", "-b", model.url, "-n", "4", "-r", "1", "-c", "1"], { HANG_MS: String(HANG_MS) });
    const refused = until(
      async () => (await health()) === 503,
      40_000,
      () => "an answer of the front door while the runtime is held",
    );
    await cli.says("the local runtime was held by environment loops", 40_000);
    await refused;
    await until(
      async () => (await health()) === 200,
      40_000,
      () => "an answer of the runtime that was started again",
    );
  });

  it("is named too where it is only asked about arguments", async () => {
    mkdirSync(join(place.folder, "environments", "looks"), { recursive: true });
    writeFileSync(join(place.folder, "environments", "looks", "looks.ts"), LOOKS);
    const cli = place.start(["eval", "run", "looks", "-m", "scripted", "-b", model.url, "-a", '{"size": 3}'], { HANG_MS: String(HANG_MS) });
    await cli.says("held by environment looks, which does not end or pause", 40_000);
  });
});

/** Status of the front door's answer; null where there is none. */
async function health(): Promise<number | null> {
  const { port = null } = (readLock(place.state) ?? {}) as { readonly port?: number | null };
  if (port === null) return null;
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(SHORT_MS) })).status;
  } catch {
    return null;
  }
}
