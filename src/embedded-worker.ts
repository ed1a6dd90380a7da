import { DurableObject } from "cloudflare:workers";
import { createEmbeddedApp } from "./embedded-api/app.ts";
import { Turns } from "./embedded-api/turns.ts";
import { loadModel } from "./embedded-model/model.ts";
import weights from "./embedded-model/weights.bin";

/**
 * The Worker of the embedded model, which only the local service starts: a script of its own, so that what is deployed carries
 * neither the code nor the weights. The service reaches it through the binding `EMBEDDED`, and passes on `/embedded/v1/…` as `/v1/…`.
 */
interface EmbeddedEnv {
  readonly MODEL: DurableObjectNamespace<EmbeddedModelObject>;
}

const macrotask = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One model, one queue: in a Durable Object requests may wait for each other, also when one of them is given up. Stores nothing. */
export class EmbeddedModelObject extends DurableObject<EmbeddedEnv> {
  readonly #app = loadModel(weights).then((model) =>
    createEmbeddedApp({
      model,
      turns: new Turns({ now: () => performance.now(), pause: () => macrotask(0) }),
      now: Date.now,
      sleep: macrotask,
      random: Math.random,
    }),
  );

  override async fetch(request: Request): Promise<Response> {
    return (await this.#app).fetch(request);
  }
}

export default {
  fetch: (request, env) => env.MODEL.getByName("tiny").fetch(request),
} satisfies ExportedHandler<EmbeddedEnv>;
