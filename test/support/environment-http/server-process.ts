/** An environment's server as a process of its own, which a test may kill: says its address on a line, and plays what a model answers. */
import { openSession } from "../../../src/environment-session/session.ts";
import { define, dataset, right } from "../walled/both.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { environmentServer } from "./environment-server.ts";

const definition = define(() => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) }));
const { url, token } = await environmentServer((channel) => openSession(() => definition, channel), { beatMs: 1_000 });
process.stdout.write(`${JSON.stringify({ url, token })}\n`);
