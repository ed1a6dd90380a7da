import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import type { LoadContext } from "../../../src/environments/definition/definition.ts";
import type { OfferedEnvironment, OfferedFacts } from "../../../src/environments/definition/offered.ts";
import type { Env } from "../../../src/env.ts";
import { isolateOpener } from "../../../src/isolates/isolate-opener.ts";
import { walledEnvironment } from "../../../src/walled/walled-environment.ts";
import { service } from "./service.ts";

const unread = (): never => {
  throw new Error("no data set is read here");
};
const DATASETS: LoadContext["datasets"] = {
  fetch: unread,
  sleep: unread,
  upload: unread,
  hub: { endpoint: "", viewer: "", token: null },
  allowPrivate: false,
  note: () => undefined,
};

export interface Isolated {
  readonly team?: string;
  readonly hosts?: readonly string[];
  readonly keys?: Readonly<Record<string, string>>;
  readonly env?: Env;
  /** Source map of the text, as JSON; default: it has none. */
  readonly map?: string;
}

/** An environment whose code is this text, in an isolate of its own. */
export async function isolated(text: string, { team = "acme", hosts = [], keys = {}, env = service, map = "" }: Isolated = {}): Promise<OfferedEnvironment> {
  const code = { text, map, digest: await sha256Hex(text) };
  const facts: OfferedFacts = { id: "probe", version: "1.0.0", description: "", defaults: {}, keys: Object.keys(keys), source: code.digest };
  return walledEnvironment(facts, isolateOpener(env, { team, hosts, code: async () => code }));
}

/** The `info` of the first example that the code gives, as a run would be given it. */
export async function infoOf(text: string, options: Isolated = {}): Promise<JsonObject> {
  const { keys = {} } = options;
  const offered = await isolated(text, options);
  const environment = await offered.load({}, { datasets: DATASETS, key: (name) => keys[name] ?? null });
  try {
    for await (const { info } of environment.examples(1)) return info as JsonObject;
    throw new Error("no example came");
  } finally {
    await environment.teardown();
  }
}

/** A module of an environment whose first example has what `info` (an expression, awaited where rows are made) comes to; `top` stands before it. */
export const telling = (info: string, top = ""): string => `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "./lib/index.js";
${top}
export default defineEnvironment({
  id: "probe", version: "1.0.0", description: "", args: z.object({}),
  load: (_args, { keys }) => new SingleTurnEnv({
    dataset: async function* () { yield { question: "?", info: await (${info}) }; },
    rubric: new Rubric([function one() { return 1; }]),
  }),
});`;
