import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "../../src/clients/create-client.ts";
import { Gate } from "../../src/clients/gate.ts";
import { scoreTexts } from "../../src/clients/scoring/score-texts.ts";
import { EMBEDDED_MODEL } from "../../src/config/endpoints/providers.ts";
import { embeddedStage } from "../../test/support/clients/embedded-app.ts";
import type { ScoringServer } from "../../test/support/clients/scoring-client.ts";
import { echoServer } from "../../test/support/clients/scoring-servers.ts";
import { now } from "../edgewise-process.ts";
import type { Measure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const TEXTS = 800;
const EMBEDDED_TEXTS = 200;
/** Requests in flight, and what each takes of a server before it begins: the way there, its queue, a step of its model. */
const REQUESTS = 4;
const LATENCY_MS = 30;
/** What a text takes of it. */
const TEXT_MS = 0.5;
const SEVERAL = 40;

interface Played {
  readonly requests: number;
  readonly seconds: number;
}

/** Sentences that are scored by rollouts that all run: 40 to a request beside one to a request, of a server with latency and of the embedded model. */
export const likelihood: Scenario = async () => {
  const server = echoServer();
  const distant: ScoringServer = async (path, body) => {
    const texts = Array.isArray(body.prompt) ? body.prompt.length : 1;
    await new Promise((resolve) => setTimeout(resolve, LATENCY_MS + TEXT_MS * texts));
    return server(path, body);
  };
  const embedded = await embeddedStage();
  const near: ScoringServer = (path, body) => embedded.post(path.replace("/v1", ""), body);
  const [one, several] = [await play(distant, TEXTS, 1), await play(distant, TEXTS, SEVERAL)];
  const [oneNear, severalNear] = [await play(near, EMBEDDED_TEXTS, 1), await play(near, EMBEDDED_TEXTS, SEVERAL)];
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "likelihood", name, value, unit });
  return [
    measure(`${TEXTS} texts, one to a request`, one.requests, "requests"),
    measure(`${TEXTS} texts, ${SEVERAL} to a request`, several.requests, "requests"),
    { ...measure(`requests, ${SEVERAL} beside one`, several.requests / one.requests, "ratio"), target: { at_most: 0.03 } },
    measure("one to a request", one.seconds, "s"),
    measure(`${SEVERAL} to a request`, several.seconds, "s"),
    {
      ...measure(`time, ${SEVERAL} beside one (a request of ${LATENCY_MS} ms and ${TEXT_MS} a text)`, several.seconds / one.seconds, "ratio"),
      target: { at_most: 0.2 },
    },
    measure(`time, ${SEVERAL} beside one, embedded model in this process`, severalNear.seconds / oneNear.seconds, "ratio"),
    measure(`requests, ${SEVERAL} beside one, embedded model`, severalNear.requests / oneNear.requests, "ratio"),
  ];
};

/** Each text by a call of its own, as rollouts ask; the probe is not counted. */
async function play(answer: ScoringServer, count: number, textsPerRequest: number): Promise<Played> {
  let requests = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      requests++;
      const answered = await answer(request.url ?? "", JSON.parse(Buffer.concat(chunks).toString()));
      const whole = answered instanceof Response ? answered : Response.json(answered);
      response.writeHead(whole.status, { "content-type": "application/json" }).end(await whole.text());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const client = createClient("openai_completions", { base_url, api_key: "none" }, { gate: new Gate(REQUESTS), textsPerRequest });
    const call = { model: EMBEDDED_MODEL, state: {}, signal: null };
    await scoreTexts(client, { ...call, texts: ["A text that is scored before the clock runs."] });
    requests = 0;
    const begin = now();
    await Promise.all(
      Array.from({ length: count }, (_, at) => scoreTexts(client, { ...call, texts: [`The number of this sentence is ${at}, and nothing else.`] })),
    );
    return { requests, seconds: (now() - begin) / 1_000 };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
