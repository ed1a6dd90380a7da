import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { Browser, findBrowser, NEEDS_BROWSER, openPage } from "../../support/browser/browser.ts";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const TOKEN = "token-of-this-test";
const MARK = `document.title="owned"`;
/** What a model may write: markup, scripts, terminal control, line ends, Rich markup, and a lot of it. */
const ATTACK = `</pre></title></style><script>${MARK}</script><img src=x onerror='${MARK}'><svg onload='${MARK}'>\u0000\u001b[31m\u001b]0;owned\u0007\u202e\u2028\r\ndata: forged\n\n[/red] :smile: 50%| <a href='javascript:${MARK}'>x</a><style>*{display:none;background:url(http://127.0.0.1:1/)}</style><meta http-equiv=refresh content='900;url=about:blank'><base href='http://evil.example/'><form action='http://evil.example/'><input autofocus onfocus='${MARK}'></form><iframe srcdoc='<script>${MARK}</script>'></iframe>`;
const ANSWER = ATTACK + "big text ".repeat(120_000);
const [EXAMPLES, ROLLOUTS] = [5, 2];
/** None of it is in a page of ours, of whatever origin. */
const MARKUP = /<(script|img|svg|iframe|form|input|base|object|embed)\b|<[^>]*\s(on\w+=|href="?\s*javascript:|http-equiv=)/i;

/** The only form of ours. */
const SIGN_OUT = /<form class="sign-out"[\s\S]*?<\/form>/;

/** A browser whose user has typed the token into the form. */
async function signedIn(browser: string): Promise<Browser> {
  const window = await Browser.start(browser);
  const page = await window.open(`${url}/sign-in`);
  await page.evaluate(`document.querySelector("[name=token]").value = ${JSON.stringify(TOKEN)}; document.querySelector("button").click()`);
  await until(
    async () => (await page.evaluate<string>("location.pathname").catch(() => "")) === "/dashboard/",
    30_000,
    () => "the browser to be signed in",
  );
  return window;
}
async function look(window: Browser, path: string): Promise<{ readonly dom: string; readonly console: readonly string[] }> {
  const page = await window.open(url + path);
  return { dom: (await page.evaluate<string>("document.documentElement.outerHTML")).replace(SIGN_OUT, ""), console: page.console };
}

/** Where who has the link reads the run, on a plain page. */
async function sharedPath(): Promise<string> {
  const shared = await fetch(`${url}/api/v1/evaluations/${id}/link`, { method: "PUT", headers: { authorization: `Bearer ${TOKEN}` } });
  return new URL(((await shared.json()) as { link: string }).link).pathname;
}

/** A part of a page as the dashboard draws it, without the boxes that choose rows. */
async function lookAt(window: Browser, path: string, part: string): Promise<{ readonly dom: string; readonly console: readonly string[] }> {
  const page = await window.open(`${url}/dashboard/${path}`);
  let dom = "";
  await until(
    async () => {
      dom = await page.evaluate<string>(`document.querySelector('${part}')?.outerHTML ?? ''`);
      return dom !== "";
    },
    30_000,
    () => `${part} of ${path}`,
  );
  return { dom: dom.replaceAll(/<input type="checkbox"[^>]*>/g, ""), console: page.console };
}

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
  it.skipIf(browser === null)(`runs nowhere in a browser ${NEEDS_BROWSER}`, { timeout: 180_000 }, async () => {
    if (browser === null) return;
    const window = await signedIn(browser);
    const page = await sharedPath();
    const [opened, log, list] = [await look(window, page), await look(window, `${page}/files/eval.log`), await lookAt(window, "", "tbody")];
    const drawn = [await lookAt(window, `evaluations/${id}?tab=errors`, ".run-head"), await lookAt(window, `evaluations/${id}?tab=log`, ".log ol")];
    await window.close();
    for (const each of drawn) {
      expect(each.console).toEqual([]);
      expect(each.dom).not.toMatch(MARKUP);
      expect(each.dom).toContain("&lt;script&gt;");
    }
    expect(opened.console).toEqual([]);
    expect(opened.dom).toContain('<title>&lt;script&gt;document.title="owned"&lt;/script&gt;: COMPLETED</title>');
    expect(opened.dom).toContain("&lt;img src=x onerror=");
    expect(opened.dom).not.toMatch(MARKUP);
    // Its own style is let in by the policy, or the browser would have said so.
    expect(opened.dom).toContain("<style>");
    expect(log.console).toEqual([]);
    expect(log.dom).not.toMatch(MARKUP);
    expect(log.dom).not.toContain("<title>owned");
    expect(list.console).toEqual([]);
    expect(list.dom).not.toMatch(MARKUP);
    expect(list.dom).toContain("&lt;script&gt;");
    expect(log.dom).toContain("&lt;script&gt;");
    const refused = await openPage(browser, `${url}/dashboard/evaluations/${id}`).catch((error: Error) => ({ dom: error.message }));
    expect(refused.dom).not.toContain("COMPLETED");
  });

  it.skipIf(browser === null)(
    "would do nothing there, even if it came to be markup: the policy of the pages lets nothing run, load or leave",
    {
      timeout: 180_000,
    },
    async () => {
      if (browser === null) return;
      let asked = 0;
      const elsewhere = createServer((_, response) => {
        asked += 1;
        response.end("x");
      });
      await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
      const window = await signedIn(browser);
      try {
        const away = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
        const page = await window.open(url + (await sharedPath()));
        const outcome = await page.evaluate<{ title: string; sent: string; colour: string }>(`(async () => {
        const place = document.createElement("div");
        place.innerHTML = ${JSON.stringify(`<img src='${away}' onerror='${MARK}'><svg onload='${MARK}'></svg><iframe srcdoc="<script>parent.${MARK.replaceAll('"', "'")}</script>"></iframe><style>body{color:rgb(1,2,3)}</style><link rel=stylesheet href='${away}'><form id=f action='${away}'></form><a id=a href='javascript:${MARK}'>x</a>`)};
        document.body.append(place);
        for (const text of [${JSON.stringify(MARK)}, ""]) {
          const script = document.createElement("script");
          if (text === "") script.src = ${JSON.stringify(away)};
          else script.textContent = text;
          document.body.append(script);
        }
        document.getElementById("a").click();
        document.getElementById("f").submit();
        const sent = await fetch(${JSON.stringify(away)}, { mode: "no-cors" }).then(() => "sent", () => "refused");
        await new Promise((resolve) => setTimeout(resolve, 500));
        return { title: document.title, sent, colour: getComputedStyle(document.body).color };
      })()`);
        expect(outcome.title).toContain("COMPLETED");
        expect(outcome.sent).toBe("refused");
        expect(outcome.colour).not.toBe("rgb(1, 2, 3)");
        expect(asked).toBe(0);
        expect(page.console.filter((line) => /Content Security Policy/i.test(line)).length).toBeGreaterThan(5);
      } finally {
        await window.close();
        elsewhere.close();
      }
    },
  );

  it.skipIf(browser === null)("is led to by a link on another site, which a strict cookie is held back from at first", { timeout: 120_000 }, async () => {
    if (browser === null) return;
    const server = createServer((_, response) =>
      response.setHeader("content-type", "text/html").end(`<a href="${url}/dashboard/evaluations/${id}">the run</a>`),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const window = await signedIn(browser);
    try {
      // Another site than 127.0.0.1, for a browser.
      const page = await window.open(`http://localhost:${(server.address() as AddressInfo).port}/`);
      await page.evaluate(`document.querySelector("a").click()`);
      await until(
        async () => (await page.evaluate<string>("document.title").catch(() => "")).endsWith(": Completed · Edgewise"),
        30_000,
        () => "the page of the run",
      );
      expect(await page.evaluate<string>("location.href")).toBe(`${url}/dashboard/evaluations/${id}`);
    } finally {
      await window.close();
      server.close();
    }
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
