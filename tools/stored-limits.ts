/**
 * A Limiter that was told a limit and one that the service keeps, as this build stores them, for the test that opens them with every later one
 * (test/e2e/faults/stored-limits.test.ts). Part of `npm run keep:state`.
 */
import { Workplace } from "../test/support/cli/cli-process.ts";
import { Served } from "../test/support/cli/served.ts";
import { startModelServer } from "../test/support/model-server/model-server.ts";
import { packLimits, type StoredLimits } from "../test/support/results/stored-limits.ts";

type Data<Of> = { readonly data: Of };

/** Bytes of the file. */
export async function keepLimits(): Promise<number> {
  const place = new Workplace();
  const model = await startModelServer({ limited: { limits: [{ kind: "requests", limit: 600, meter: "token_bucket" }], headers: "openai" } });
  try {
    const service = new Served(place);
    await service.start();
    const put = await fetch(`${service.url}/api/v1/limits/given/ours`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: model.url, concurrent: 3 }),
    });
    if (!put.ok) throw new Error(`${put.status} ${await put.text()}`);
    const run = await service.create(model.url, { num_examples: 4, rollouts_per_example: 2, max_concurrent: 4 });
    await service.when(run, ({ edgewise }) => edgewise.settled, "the end of the run");
    const [limiter] = ((await (await service.ask("/limits")).json()) as Data<StoredLimits["limiter"][]>).data;
    const [given] = ((await (await service.ask("/limits/given")).json()) as Data<StoredLimits["given"][]>).data;
    if (limiter === undefined || given === undefined) throw new Error("there is no Limiter, or nothing that was given");
    await service.end("SIGKILL");
    return packLimits(place.state, { limiter, given });
  } finally {
    place.remove();
    await model.close();
  }
}
