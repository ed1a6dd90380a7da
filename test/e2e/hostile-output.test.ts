import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLock } from "../../src/cli/state/state-lock.ts";
import { findBrowser, openPage } from "../support/browser.ts";
import { until, Workplace } from "../support/cli-process.ts";
import { type ModelServer, startModelServer } from "../support/model-server.ts";

const TOKEN = "token-of-this-test";
const MARK = `document.title="owned"`;
/** What a model may write: markup, scripts, terminal control, line ends, Rich markup, and a lot of it. */
const ATTACK = `</pre></title></style><script>${MARK}</script><img src=x onerror='${MARK}'><svg onload='${MARK}'>\u0000\u001b[31m\u001b]0;owned\u0007\u202e\u2028\r\ndata: forged\n\n[/red] :smile: 50%| `;
const ANSWER = ATTACK + "big text ".repeat(120_000);
const [EXAMPLES, ROLLOUTS] = [5, 2];

let place: Workplace;
let model: ModelServer;
let url = "";
let id = "";

const get = (path: string): Promise<Response> => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
const json = async <T = Record<string, unknown>>(path: string): Promise<T> => (await (await get(`/api/v1${path}`)).json()) as T;

beforeAll(async () => {
  place = new Workplace();
  const refusals = Array.from({ length: 12 }, (_, index) => index + 1);
  model = await startModelServer({ answer: { text: ANSWER }, faults: [{ when: { nth: refusals }, fault: { kind: "status", status: 500, message: ATTACK } }] });
  await place.start(["serve", "--port", "0"], { EDGEWISE_TOKEN: TOKEN }).says("Edgewise listens on");
  url = `http://127.0.0.1:${readLock(place.state)?.port}`;
  const created = await fetch(`${url}/api/v1/hosted-evaluations`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({
      environment_ids: ["edgewise/reverse-text"],
      inference_model: "scripted",
      name: `<script>${MARK}</script>`,
      eval_config: { num_examples: EXAMPLES, rollouts_per_example: ROLLOUTS, max_concurrent: 4, api_base_url: model.url, api_key_var: "PRIME_API_KEY" },
    }),
  });
  id = ((await created.json()) as { evaluation_id: string }).evaluation_id;
  await until(
    async () => (await json<{ edgewise: { settled: boolean } }>(`/evaluations/${id}`)).edgewise.settled,
    60_000,
    () => "the run to settle",
  );
}, 120_000);
afterAll(async () => {
  place.remove();
  await model.close();
});

interface Row {
  readonly example_id: number;
  readonly rollout_index: number;
  readonly completion: readonly { readonly content: string }[];
  readonly error: { readonly message?: string } | null;
}
/** Ten megabytes of it, each text to the last character. */
function expectWhole(rows: readonly Row[]): void {
  expect(rows.map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`)).toEqual(
    Array.from({ length: EXAMPLES * ROLLOUTS }, (_, index) => `${Math.floor(index / ROLLOUTS)}/${index % ROLLOUTS}`),
  );
  const answered = rows.filter(({ error }) => error === null);
  expect(answered.length).toBeGreaterThan(5);
  for (const { completion } of answered) expect(completion.at(-1)?.content === ANSWER).toBe(true);
}

describe("what a model writes", () => {
  it("passes through samples and files unharmed", async () => {
    const page = await json<{ samples: Row[]; total: number; has_more: boolean }>(`/evaluations/${id}/samples`);
    expectWhole(page.samples);
    expect([page.total, page.has_more]).toEqual([EXAMPLES * ROLLOUTS, false]);
    const one = await json<{ samples: Row[] }>(`/evaluations/${id}/samples?limit=1&page=4`);
    expect(one.samples).toEqual(page.samples.slice(3, 4));
    const file = await (await get(`/api/v1/evaluations/${id}/files/results.jsonl`)).text();
    expectWhole(
      file
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Row),
    );
    expect(file.length).toBeGreaterThan(6 * 1_000_000);
  });

  it("forges no event, and no line of a log", async () => {
    const text = await (await get(`/api/v1/evaluations/${id}/events`)).text();
    const blocks = text.split("\n\n").filter((block) => block !== "");
    for (const block of blocks) expect(block).toMatch(/^(retry: 100|:|id: \d+\nevent: (log|commit)\ndata: \{.*\}|event: (progress|end)\ndata: \{.*\})$/);
    const logged = blocks
      .filter((block) => block.includes("event: log"))
      .map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)) as { message: string });
    expect(logged.some(({ message }) => message.includes("<script>"))).toBe(true);
    const { logs } = await json<{ logs: string }>(`/hosted-evaluations/${id}/logs`);
    const file = await (await get(`/api/v1/evaluations/${id}/files/eval.log`)).text();
    for (const log of [logs, file]) {
      for (const line of log.trimEnd().split("\n"))
        expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d - edgewise\.run - (INFO|WARNING|ERROR) - [^\p{Cc}\u2028\u202e]+$/u);
      expect(log).toContain("<script>");
    }
    expect(logs).toContain("\\[/red]");
    expect(logs).not.toMatch(/:smile:|\d%\|/);
  });

  const browser = findBrowser();
  it.skipIf(browser === null)("runs nowhere in a browser (set EDGEWISE_TEST_BROWSER, or have Chromium on the PATH)", { timeout: 120_000 }, async () => {
    if (browser === null) return;
    const page = `//user:${TOKEN}@${url.slice("http://".length)}/dashboard/evaluations/${id}`;
    const opened = await openPage(browser, `http:${page}`);
    expect(opened.console).toEqual([]);
    expect(opened.dom).toContain('<title>&lt;script&gt;document.title="owned"&lt;/script&gt;: COMPLETED</title>');
    expect(opened.dom).toContain("&lt;img src=x onerror=");
    expect(opened.dom).not.toMatch(/<script|<img|<svg/i);
    // Its own style is let in by the policy, or the browser would have said so.
    expect(opened.dom).toContain("<style>");
    const log = await openPage(browser, `http:${page}/files/eval.log`);
    expect(log.console).toEqual([]);
    expect(log.dom).not.toMatch(/<script|<svg|<title>owned/i);
    expect(log.dom).toContain("&lt;script&gt;");
    const refused = await openPage(browser, `${url}/dashboard/evaluations/${id}`).catch((error: Error) => ({ dom: error.message }));
    expect(refused.dom).not.toContain("COMPLETED");
  });

  it.skipIf(browser === null)("would be seen to run, if it did", { timeout: 120_000 }, async () => {
    if (browser === null) return;
    const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(`<title>x</title>${ATTACK}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const opened = await openPage(browser, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      expect(opened.dom).toContain("<title>owned</title>");
    } finally {
      server.close();
    }
  });
});
