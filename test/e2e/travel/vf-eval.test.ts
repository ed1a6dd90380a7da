import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PrimeClient } from "../../../tools/prime-client/client.ts";
import { VF_CHECKS } from "../../../tools/prime-client/vf-checks.ts";
import { Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

/** A Python beside whose programs there is the `vf-eval` of verifiers 0.4. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
const isThere = PYTHON !== "" && spawnSync(PYTHON, ["-c", "import prime_runs, verifiers.v1"]).status === 0;
if (!isThere) console.log("skipped: EDGEWISE_TEST_PYTHON names no Python with verifiers 0.4 (episodes streamed by vf-eval itself)");
const TOKEN = "e2e-token";
const CHECK_MS = 120_000;

describe.skipIf(!isThere)("vf-eval of verifiers 0.4", () => {
  let place: Workplace;
  let model: ModelServer;
  let client: PrimeClient;
  beforeAll(async () => {
    place = new Workplace();
    model = await startModelServer();
    const serve = place.start(["serve", "--port", "0"], { EDGEWISE_TOKEN: TOKEN });
    await serve.says("Edgewise listens on", 40_000);
    const [, url = ""] = /listens on (\S+)/.exec(serve.stdout()) ?? [];
    client = new PrimeClient({ prime: PYTHON, url, token: TOKEN, model });
  }, 60_000);
  afterAll(async () => {
    client.remove();
    place.remove();
    await model.close();
  });

  it.each(VF_CHECKS)(
    "streams its episodes to the service: $name",
    async ({ run }) => {
      await expect(run(client)).resolves.toBeUndefined();
    },
    CHECK_MS,
  );
});
